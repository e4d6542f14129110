//! The crate is built in layers, and a layer knows only those below it.

use std::{fs, path::Path};

/// From the lowest to the highest; those of one line do not know each other.
const LAYERS: [&[&str]; 11] = [
    &["error"],
    &["topology"],
    &["kernels"],
    &["pass"],
    &["ops"],
    &["graph"],
    &["nn"],
    &["evidence"],
    &["conv", "loss", "dgg"],
    &["learner"],
    &["nets"],
];

fn rank(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// The first name of every path that begins with `crate::`, comments left out.
fn used(source: &str) -> Vec<String> {
    let code = |line: &&str| !line.trim_start().starts_with("//");
    let code: Vec<&str> = source.lines().filter(code).collect();
    let code = code.join("\n");
    let paths = code.match_indices("crate::").map(|(at, start)| &code[at + start.len()..]);
    paths.flat_map(first_names).collect()
}

fn first_names(path: &str) -> Vec<String> {
    let name = |path: &str| -> String {
        let letter = |c: &char| c.is_alphanumeric() || *c == '_';
        path.trim_start().chars().take_while(letter).collect()
    };
    let Some(list) = path.strip_prefix('{') else { return vec![name(path)] };
    let (mut names, mut depth) = (vec![name(list)], 1);
    for (at, letter) in list.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => names.push(name(&list[at + 1..])),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn check(folder: &Path, module: Option<&str>, faults: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("the sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let module = module.unwrap_or(&name);
        if path.is_dir() {
            check(&path, Some(module), faults);
            continue;
        }
        if module == "lib" {
            continue;
        }
        let own = rank(module).unwrap_or_else(|| panic!("{module} belongs to no layer"));
        for used in used(&fs::read_to_string(&path).expect("a source file")) {
            let allowed = match rank(&used) {
                Some(other) => other < own || used == module,
                // Root names hide where they come from; these two come from the lowest layer.
                None => used == "Error" || used == "Result",
            };
            if !allowed {
                faults.push(format!("{}: {module} uses crate::{used}", path.display()));
            }
        }
    }
}

#[test]
fn layers_know_only_those_below() {
    let mut faults = Vec::new();
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), None, &mut faults);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn names_are_found_in_lists_and_paths() {
    let source = "use crate::{\n    Error, graph::{Adjacency, Features},\n    ops::{self, take},\n};\n\
                  // use crate::learner::Knn;\nfn f() -> crate::nn::Linear;";
    assert_eq!(used(source), ["Error", "graph", "ops", "nn"]);
}
