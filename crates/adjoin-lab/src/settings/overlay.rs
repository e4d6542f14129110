//! One table on top of a configuration. Works for any configuration that can be written as TOML.

use crate::{Error, Result};
use serde::{Serialize, de::DeserializeOwned};
use strsim::levenshtein;

/// How messages about keys that there are not begin.
const UNKNOWN: &str = "unknown field";

/// Reads a configuration, the values of `base` standing in for what the text leaves out.
///
/// # Errors
/// Says which key is unknown, with the nearest known one, or which value does not fit.
pub fn from_toml<C: Serialize + DeserializeOwned>(place: &str, text: &str, base: &C) -> Result<C> {
    let table: toml::Table = text
        .parse()
        .map_err(|e: toml::de::Error| Error::Config { place: place.into(), what: e.to_string() })?;
    overlaid(base, place, table).map_err(|error| match error {
        Error::Config { place, what } => {
            match what.split('`').nth(1).and_then(|k| line_of(text, k)) {
                Some(line) => Error::Config { place: format!("{place}, line {line}"), what },
                None => Error::Config { place, what },
            }
        }
        other => other,
    })
}

/// The first line of a text that sets a key or opens its table, counted from 1.
fn line_of(text: &str, key: &str) -> Option<usize> {
    let names = |line: &str| {
        let line = line.trim_start_matches(['[', ' ', '\t']);
        let name = line.split(['=', ']']).next().unwrap_or_default();
        name.split('.').any(|part| part.trim() == key)
    };
    text.lines().position(names).map(|at| at + 1)
}

/// A `key=value` as a table with one leaf, e.g. `train.epochs=100`.
pub(super) fn parse_setting(setting: &str) -> Result<toml::Table> {
    let Some((key, value)) = setting.split_once('=') else {
        let what = "a setting looks like key=value, e.g. train.epochs=100".into();
        return Err(Error::Config { place: format!("--set {setting}"), what });
    };
    // A bare word is a string: quotes are optional on the command line.
    let parsed = format!("v = {value}").parse::<toml::Table>();
    let value = match parsed.ok().and_then(|mut table| table.remove("v")) {
        Some(value) => value,
        None => toml::Value::String(value.to_string()),
    };
    let nest = |inner: toml::Value, part: &str| {
        toml::Value::Table(toml::Table::from_iter([(part.to_string(), inner)]))
    };
    match key.trim().rsplit('.').fold(value, nest) {
        toml::Value::Table(table) => Ok(table),
        _ => Ok(toml::Table::new()),
    }
}

/// The configuration with one `key=value` on top. `key=none` removes an optional value or table, unless `none` is a
/// value of the key.
pub fn with_setting<C: Serialize + DeserializeOwned>(base: &C, setting: &str) -> Result<C> {
    let over = parse_setting(setting)?;
    let found = overlaid(base, &format!("--set {setting}"), over.clone());
    found.or_else(|error| match (setting.split_once('='), &error) {
        (Some((key, "none")), Error::Config { what, .. }) if !what.starts_with(UNKNOWN) => {
            without(base, key.trim(), over).ok_or(error)
        }
        _ => Err(error),
    })
}

/// The configuration without a key that `over` sets; none if it cannot do without.
fn without<C: Serialize + DeserializeOwned>(base: &C, key: &str, over: toml::Table) -> Option<C> {
    let (place, name) = key.rsplit_once('.').unwrap_or(("", key));
    let mut merged = overlay(toml::Table::try_from(base).ok()?, over);
    table_at(&mut merged, place)?.remove(name);
    let config: C = merged.try_into().ok()?;
    // A key that comes back with its default is not optional.
    let mut written = toml::Table::try_from(&config).ok()?;
    (!table_at(&mut written, place)?.contains_key(name)).then_some(config)
}

/// The table at a dotted key.
fn table_at<'a>(table: &'a mut toml::Table, place: &str) -> Option<&'a mut toml::Table> {
    let mut parts = place.split('.').filter(|part| !part.is_empty());
    parts.try_fold(table, |table, part| table.get_mut(part)?.as_table_mut())
}

/// The full configuration as a file that can be edited and given back.
pub fn to_toml(config: &impl Serialize) -> String {
    toml::to_string_pretty(config).unwrap_or_else(|e| format!("# not writable: {e}\n"))
}

/// A configuration with a table on top.
pub(super) fn overlaid<C: Serialize + DeserializeOwned>(
    config: &C,
    place: &str,
    over: toml::Table,
) -> Result<C> {
    let error = |what: String| Error::Config { place: place.into(), what };
    let base = toml::Table::try_from(config).map_err(|e| error(e.to_string()))?;
    let merged = overlay(base.clone(), over);
    merged.try_into().map_err(|e: toml::de::Error| error(suggest(e.message(), &base)))
}

/// Tables are joined key by key; anything else in `over` wins.
fn overlay(mut base: toml::Table, over: toml::Table) -> toml::Table {
    for (key, value) in over {
        match (base.remove(&key), value) {
            // One key of its own is the name of a choice, such as a learner or a rule: naming another one
            // replaces its settings instead of mixing the two.
            (Some(toml::Value::Table(old)), toml::Value::Table(new)) => {
                let another = old.len() == 1 && !new.keys().all(|name| old.contains_key(name));
                base.insert(key, if another { new } else { overlay(old, new) }.into());
            }
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
    base
}

/// Adds "did you mean" to a message about an unknown name: a known one that is written alike, or the same
/// one in a table of the configuration.
fn suggest(message: &str, base: &toml::Table) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let unknown_name = [UNKNOWN, "unknown variant"].iter().any(|start| message.starts_with(start));
    let Some(unknown) = quoted.next().filter(|_| unknown_name) else {
        return message.to_string();
    };
    let alike = |known: &&str| levenshtein(unknown, known) <= unknown.len().div_ceil(2);
    let near = quoted.filter(alike).min_by_key(|known| levenshtein(unknown, known));
    let inside = || base.iter().find_map(|(key, value)| inside(key, value, unknown));
    match near.map(str::to_string).or_else(inside) {
        Some(near) => format!("{message}; did you mean `{near}`?"),
        None => message.to_string(),
    }
}

/// The full key of a name somewhere below a key.
fn inside(key: &str, value: &toml::Value, name: &str) -> Option<String> {
    let table = value.as_table()?;
    match table.contains_key(name) {
        true => Some(format!("{key}.{name}")),
        false => {
            let mut parts = table.iter();
            parts.find_map(|(next, value)| inside(&format!("{key}.{next}"), value, name))
        }
    }
}
