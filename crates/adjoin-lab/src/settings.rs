//! Configurations as text: files, and `key=value` on top of them. Works for any configuration that can
//! be written as TOML.

use crate::{Error, Result};
use serde::{Serialize, de::DeserializeOwned};

/// Reads a configuration, the values of `base` standing in for what the text leaves out.
///
/// # Errors
/// Says which key is unknown, with the nearest known one, or which value does not fit.
pub(crate) fn from_toml<C: Serialize + DeserializeOwned>(
    place: &str,
    text: &str,
    base: &C,
) -> Result<C> {
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

/// The configuration with `key=value` settings applied, e.g. `train.epochs=100`.
///
/// # Errors
/// As [`from_toml`].
pub(crate) fn with_settings<'a, C: Serialize + DeserializeOwned + Clone>(
    base: &C,
    settings: impl IntoIterator<Item = &'a str>,
) -> Result<C> {
    let mut config = base.clone();
    for setting in settings {
        let place = format!("--set {setting}");
        let Some((key, value)) = setting.split_once('=') else {
            let what = "a setting looks like key=value, e.g. train.epochs=100".into();
            return Err(Error::Config { place, what });
        };
        // A bare word is a string: quotes are optional on the command line.
        let parsed = format!("v = {value}").parse::<toml::Table>();
        let value = match parsed.ok().and_then(|mut table| table.remove("v")) {
            Some(value) => value,
            None => toml::Value::String(value.to_string()),
        };
        let mut table = toml::Table::new();
        let (last, path) = {
            let mut parts: Vec<&str> = key.trim().split('.').collect();
            (parts.pop().unwrap_or_default().to_string(), parts)
        };
        let mut inner = &mut table;
        for part in path {
            let entry = inner.entry(part).or_insert_with(|| toml::Table::new().into());
            let toml::Value::Table(next) = entry else { unreachable!("just inserted") };
            inner = next;
        }
        inner.insert(last, value);
        config = overlaid(&config, &place, table)?;
    }
    Ok(config)
}

/// Refuses settings of training below 0, or not numbers.
pub(crate) fn not_negative<const N: usize>(settings: [(&str, f64); N]) -> Result<()> {
    let wrong = |&(_, value): &(&str, f64)| !(0.0..f64::INFINITY).contains(&value);
    match settings.into_iter().find(wrong) {
        None => Ok(()),
        Some((name, value)) => {
            let what = format!("is {value}, but must be a number of at least 0");
            Err(Error::Config { place: format!("train.{name}"), what })
        }
    }
}

/// Refuses a setting of training that must be a share: 0 or more, and below 1.
pub(crate) fn share(name: &str, value: f64) -> Result<()> {
    if (0.0..1.0).contains(&value) {
        return Ok(());
    }
    let what = format!("is {value}, but must be at least 0 and below 1");
    Err(Error::Config { place: format!("train.{name}"), what })
}

/// The full configuration as a file that can be edited and given back.
pub(crate) fn to_toml(config: &impl Serialize) -> String {
    toml::to_string_pretty(config).unwrap_or_else(|e| format!("# not writable: {e}\n"))
}

fn overlaid<C: Serialize + DeserializeOwned>(
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
    let unknown_name =
        ["unknown field", "unknown variant"].iter().any(|start| message.starts_with(start));
    let Some(unknown) = quoted.next().filter(|_| unknown_name) else {
        return message.to_string();
    };
    let alike = |known: &&str| distance(unknown, known) <= unknown.len().div_ceil(2);
    let near = quoted.filter(alike).min_by_key(|known| distance(unknown, known));
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

/// Edits that turn one word into another (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let cost = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
