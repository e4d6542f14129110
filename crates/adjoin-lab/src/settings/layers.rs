//! A configuration put together in layers that remembers where each value came from.

use super::overlay::{from_toml, overlaid, parse_setting, with_setting};
use crate::Result;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{collections::BTreeMap, fmt::Write};

/// Where a value comes from when no layer sets it.
const BUILT_IN: &str = "built in";

/// Where every value of a configuration came from, by dotted key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Origins(BTreeMap<String, String>);

impl Origins {
    /// The layer that set a key.
    pub fn of(&self, key: &str) -> &str {
        self.0.get(key).map_or(BUILT_IN, String::as_str)
    }
}

/// A configuration and the layers it is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Layers<C> {
    /// The configuration so far.
    pub config: C,
    /// Where its values came from.
    pub origins: Origins,
}

impl<C: Serialize + DeserializeOwned + Clone + Default> Layers<C> {
    /// The built-in values.
    pub fn built_in() -> Self {
        Self { config: C::default(), origins: Origins::default() }
    }

    /// The values of a table on top.
    pub fn table(&self, origin: &str, table: &toml::Table) -> Result<Self> {
        let config = overlaid(&self.config, origin, table.clone())?;
        Ok(self.joined(origin, config, leaves(table).into_keys()))
    }

    /// The values of a text on top; errors name its lines.
    pub fn text(&self, origin: &str, text: &str) -> Result<Self> {
        let config = from_toml(origin, text, &self.config)?;
        let table: toml::Table = text.parse().unwrap_or_default();
        Ok(self.joined(origin, config, leaves(&table).into_keys()))
    }

    /// One `key=value` on top, as [`with_setting`].
    pub fn set(&self, setting: &str) -> Result<Self> {
        let config = with_setting(&self.config, setting)?;
        Ok(self.joined("--set", config, leaves(&parse_setting(setting)?).into_keys()))
    }

    /// A configuration that was changed in code.
    pub fn changed(&self, origin: &str, config: C) -> Self {
        self.joined(origin, config, std::iter::empty())
    }

    /// The next configuration: what the layer names, and whatever else it changed, is from there.
    fn joined(&self, origin: &str, config: C, named: impl Iterator<Item = String>) -> Self {
        let [before, after] = [&self.config, &config].map(flat);
        let mut origins = self.origins.0.clone();
        origins.retain(|key, _| after.contains_key(key));
        let changed = after.iter().filter(|(key, value)| before.get(*key) != Some(value));
        let named = named.filter(|key| after.contains_key(key));
        for key in changed.map(|(key, _)| key.clone()).chain(named) {
            origins.insert(key, origin.into());
        }
        Self { config, origins: Origins(origins) }
    }

    /// The configuration as TOML with the origin of every value behind it.
    pub fn annotated(&self) -> String {
        let mut out = String::new();
        if let Ok(table) = toml::Table::try_from(&self.config) {
            write_table(&mut out, "", &table, &self.origins);
        }
        out
    }
}

fn flat(config: &impl Serialize) -> BTreeMap<String, toml::Value> {
    toml::Table::try_from(config).map(|table| leaves(&table)).unwrap_or_default()
}

/// All values of a table by dotted key.
pub(super) fn leaves(table: &toml::Table) -> BTreeMap<String, toml::Value> {
    let mut found = BTreeMap::new();
    for (key, value) in table {
        match value {
            toml::Value::Table(inner) => {
                let inner = leaves(inner).into_iter();
                found.extend(inner.map(|(below, value)| (format!("{key}.{below}"), value)));
            }
            value => {
                found.insert(key.clone(), value.clone());
            }
        }
    }
    found
}

/// Every key of a configuration with its value, as they are written after `--set`.
pub fn keys(config: &impl Serialize) -> Vec<(String, String)> {
    flat(config).into_iter().map(|(key, value)| (key, value.to_string())).collect()
}

fn write_table(out: &mut String, place: &str, table: &toml::Table, origins: &Origins) {
    let below = |key: &str| if place.is_empty() { key.into() } else { format!("{place}.{key}") };
    let (tables, values): (Vec<_>, Vec<_>) = table.iter().partition(|(_, value)| value.is_table());
    if !place.is_empty() && !values.is_empty() {
        let _ = writeln!(out, "\n[{place}]");
    }
    for (key, value) in values {
        let line = format!("{key} = {value}");
        let _ = writeln!(out, "{line:<40} # {}", origins.of(&below(key)));
    }
    for (key, value) in tables {
        if let toml::Value::Table(inner) = value {
            write_table(out, &below(key), inner, origins);
        }
    }
}
