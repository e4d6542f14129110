//! GraphML as other tools write it.

use std::path::Path;

use adjoin_data::{NodeDataset, Result, read};
use proptest::prelude::*;

const GOOD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="label" attr.type="string"/>
  <key id="d1" for="node" attr.name="size" attr.type="double"><default>2.5</default></key>
  <key id="d2" for="edge" attr.name="weight" attr.type="double"/>
  <graph edgedefault="directed">
    <edge source="a" target="b&amp;"><data key="d2">0.5</data></edge>
    <node id="a"><data key="d0">cats &lt; dogs</data><data key="d1">1</data></node>
    <node id="b&#38;"><data key="d0"><![CDATA[dogs]]></data></node>
  </graph>
</graphml>"#;

fn parse(text: &str) -> Result<NodeDataset> {
    read::graphml_bytes(Path::new("net.graphml"), text.as_bytes())
}

#[test]
fn nodes_edges_defaults_and_entities() {
    let graph = parse(GOOD).unwrap();
    assert_eq!(graph.name, "net");
    assert_eq!(graph.node_ids, ["a", "b&"]);
    assert_eq!(graph.class_names, ["cats < dogs", "dogs"]);
    assert_eq!(graph.features.to_dense(), [1.0, 2.5]);
    assert_eq!((graph.edges, graph.weights), (vec![(0, 1)], Some(vec![0.5])));
}

#[test]
fn bad_documents_are_explained() {
    let cases = [
        (GOOD.replace("target=\"b&amp;\"", "target=\"z\""), "`z` is not the id of a node"),
        (GOOD.replace("key=\"d1\"", "key=\"d9\""), "`d9` is not the id of a <key>"),
        (GOOD.replace(">1<", ">inf<"), "not a finite number"),
        (GOOD.replace("attr.name=\"label\"", "attr.name=\"class\""), "no column `label`"),
        (GOOD.replace("id=\"b&#38;\"", "id=\"a\""), "`a` occurs again"),
        (GOOD.replace("source=\"a\" ", ""), "field `source`"),
        (GOOD.replace("&lt;", "&boom;"), "an entity"),
        (GOOD.replace("</node>\n    <node", "<node id=\"n\"/></node>\n    <node"), "inside a node"),
        (GOOD.replace("</graphml>", ""), "net.graphml"),
        (String::new(), "ends early"),
    ];
    for (text, part) in cases {
        let error = parse(&text).unwrap_err().to_string();
        assert!(error.contains(part), "`{part}` is not in: {error}");
    }
    // Entities are not defined by the document, so they cannot multiply.
    let laughs = GOOD
        .replacen("<graphml", "<!DOCTYPE g [<!ENTITY l \"ll\">]><graphml", 1)
        .replace("dogs]]>", "]]>&l;");
    assert!(parse(&laughs).is_err());
    for end in 0..GOOD.len() {
        assert!(parse(&GOOD[..end]).is_err());
    }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes: Vec<u8>, place in 0..GOOD.len(), byte: u8) {
        let path = Path::new("x.graphml");
        let _ = read::graphml_bytes(path, &bytes);
        let mut changed = GOOD.as_bytes().to_vec();
        changed[place] = byte;
        let _ = read::graphml_bytes(path, &changed);
    }

    #[test]
    fn random_tags_never_panic(text in "(<graphml>|</graphml>|<key id=\"k\"/>|<node id=\"a\">|</node>|<data key=\"k\">|</data>|<edge source=\"a\" target=\"a\"/>|<default>|1|&#0;){0,30}") {
        let _ = parse(&text);
    }
}
