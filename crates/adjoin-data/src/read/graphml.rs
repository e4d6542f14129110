//! GraphML, as Gephi, NetworkX and igraph write it.

use std::collections::HashMap;
use std::path::Path;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::edge_row::EdgeRow;
use super::table::Table;
use crate::dataset::NodeDataset;
use crate::error::{At, Error, Result};

/// Reads a GraphML file. Attributes of the nodes mean what the columns of
/// [`csv_folder`](super::csv_folder) with the same names mean (`label`, `split`, `words`, any other
/// is a number); the attribute `weight` of edges is their weight. Edges are taken as undirected.
/// Entities other than the five of XML and characters by number are refused.
pub fn graphml(path: &Path) -> Result<NodeDataset> {
    graphml_bytes(path, &super::file_bytes(path)?)
}

/// As [`graphml`], from memory.
pub fn graphml_bytes(path: &Path, bytes: &[u8]) -> Result<NodeDataset> {
    let mut document = Document::default();
    let text = std::str::from_utf8(bytes).map_err(|error| {
        At::byte(path, error.valid_up_to() as u64).error("not UTF-8 text", "save the file as UTF-8")
    })?;
    let mut reader = Reader::from_str(text);
    let (mut line, mut counted) = (1, 0);
    loop {
        let here = (reader.buffer_position() as usize).min(bytes.len());
        line += bytes[counted..here].iter().filter(|&&byte| byte == b'\n').count() as u64;
        counted = here;
        let at = At::line(path, line);
        let wrong = |error: String| at.clone().error(error, "correct the XML");
        match reader.read_event().map_err(|error| wrong(error.to_string()))? {
            Event::Start(tag) => document.open(&tag, &at)?,
            Event::Empty(tag) => {
                document.open(&tag, &at)?;
                document.close(tag.local_name().as_ref(), &at)?;
            }
            Event::End(tag) => document.close(tag.local_name().as_ref(), &at)?,
            Event::Text(text) => document.text.push_str(&text),
            Event::CData(text) => document.text.push_str(&text),
            Event::GeneralRef(entity) => {
                let number = entity.resolve_char_ref().map_err(|error| wrong(error.to_string()))?;
                let text = match (number, &*entity) {
                    (Some(character), _) => character,
                    (None, "lt") => '<',
                    (None, "gt") => '>',
                    (None, "amp") => '&',
                    (None, "quot") => '"',
                    (None, "apos") => '\'',
                    _ => return Err(wrong("an entity that XML itself does not define".into())),
                };
                document.text.push(text);
            }
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    if document.item.is_some() || !document.finished {
        return Err(
            At::file(path).error("the document ends early", "it is truncated: get it again")
        );
    }
    document.into_dataset(path)
}

/// `<key id="d0" for="node" attr.name="label"><default>..</default></key>`
struct Key {
    id: String,
    domain: String,
    name: String,
    default: String,
}

/// A node (one end: its id) or an edge (two ends), with its attributes by key.
struct Item {
    ends: Vec<String>,
    data: HashMap<String, String>,
    at: At,
}

#[derive(Default)]
struct Document {
    keys: Vec<Key>,
    nodes: Vec<Item>,
    edges: Vec<Item>,
    /// The node or edge that is open.
    item: Option<Item>,
    /// The key of the `<data>` that is open.
    data: Option<String>,
    /// Text since the last tag.
    text: String,
    /// `</graphml>` was seen.
    finished: bool,
}

impl Document {
    fn open(&mut self, tag: &BytesStart<'_>, at: &At) -> Result<()> {
        self.text.clear();
        let attribute = |name: &str| -> Result<String> {
            attribute(tag, name, at)?.ok_or_else(|| {
                at.clone().field(name).error("the attribute is missing", "add it to the tag")
            })
        };
        match tag.local_name().as_ref() {
            "key" => {
                let domain = self::attribute(tag, "for", at)?.unwrap_or_else(|| "all".into());
                let id = attribute("id")?;
                let name = self::attribute(tag, "attr.name", at)?.unwrap_or_else(|| id.clone());
                self.keys.push(Key { id, domain, name, default: String::new() });
            }
            "node" | "edge" if self.item.is_some() => {
                return Err(at.clone().error("a graph inside a node", "flatten the graph first"));
            }
            "node" => {
                let ends = vec![attribute("id")?];
                self.item = Some(Item { ends, data: HashMap::new(), at: at.clone() });
            }
            "edge" => {
                let ends = vec![attribute("source")?, attribute("target")?];
                self.item = Some(Item { ends, data: HashMap::new(), at: at.clone() });
            }
            "data" => self.data = Some(attribute("key")?),
            "hyperedge" => {
                return Err(at.clone().error("a hyperedge", "only edges with two ends are read"));
            }
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, tag: &str, at: &At) -> Result<()> {
        let text = std::mem::take(&mut self.text);
        match tag {
            "default" => {
                if let Some(key) = self.keys.last_mut() {
                    key.default = text.trim().to_string();
                }
            }
            "data" => {
                if let (Some(key), Some(item)) = (self.data.take(), &mut self.item) {
                    if !self.keys.iter().any(|known| known.id == key) {
                        let what = format!("`{key}` is not the id of a <key>");
                        return Err(at.clone().field("key").error(what, "declare the attribute"));
                    }
                    item.data.insert(key, text.trim().to_string());
                }
            }
            "node" => self.nodes.extend(self.item.take()),
            "edge" => self.edges.extend(self.item.take()),
            "graphml" => self.finished = true,
            _ => {}
        }
        Ok(())
    }

    fn into_dataset(self, path: &Path) -> Result<NodeDataset> {
        let of = |kind: &str| -> Vec<&Key> {
            self.keys.iter().filter(|key| key.domain == kind || key.domain == "all").collect()
        };
        let cell = |item: &'_ Item, key: &Key| {
            item.data.get(&key.id).cloned().unwrap_or_else(|| key.default.clone())
        };
        // The XML id of a node is its id, whatever attributes there are.
        let columns: Vec<&Key> = of("node").into_iter().filter(|key| key.name != "id").collect();
        let names = std::iter::once("id").chain(columns.iter().map(|key| key.name.as_str()));
        let mut table = Table::new(At::file(path), names)?;
        for node in &self.nodes {
            let values: Vec<String> = columns.iter().map(|key| cell(node, key)).collect();
            let id = node.ends.iter().map(String::as_str);
            table.node(id.chain(values.iter().map(String::as_str)), &node.at)?;
        }
        table.check_nodes()?;
        let weight = of("edge").into_iter().find(|key| key.name == "weight");
        for edge in &self.edges {
            if let [source, target] = &edge.ends[..] {
                let weight = weight.map(|key| cell(edge, key));
                let row = EdgeRow { weight: weight.as_deref(), ..EdgeRow::default() };
                table.edge([source, target], row, &edge.at)?;
            }
        }
        table.finish(super::stem(path), None)
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str, at: &At) -> Result<Option<String>> {
    let wrong = |error: String| -> Error { at.clone().field(name).error(error, "correct the XML") };
    let found = tag.try_get_attribute(name).map_err(|error| wrong(error.to_string()))?;
    match found {
        Some(found) => {
            let value = found.normalized_value(quick_xml::XmlVersion::Implicit1_0);
            value.map(|value| Some(value.into_owned())).map_err(|error| wrong(error.to_string()))
        }
        None => Ok(None),
    }
}
