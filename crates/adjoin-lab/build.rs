//! Embeds every file of `recipes/`, so that a new recipe is a new file and nothing else.

use std::{env, fmt::Write, fs, path::Path};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let folder = Path::new(&root).join("recipes");
    println!("cargo::rerun-if-changed=recipes");
    let mut found = Vec::new();
    for task in fs::read_dir(&folder).into_iter().flatten().flatten() {
        for file in fs::read_dir(task.path()).into_iter().flatten().flatten() {
            let path = file.path();
            if path.extension().is_some_and(|ending| ending == "toml") {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                found.push((task.file_name().to_string_lossy().into_owned(), name, path));
            }
        }
    }
    found.sort();
    let mut out =
        String::from("/// All recipes, by task and name.\npub const RECIPES: &[Recipe] = &[\n");
    for (task, name, path) in found {
        let _ = writeln!(
            out,
            "    Recipe {{ task: {task:?}, name: {name:?}, text: include_str!({path:?}) }},"
        );
    }
    out.push_str("];\n");
    let target = Path::new(&env::var("OUT_DIR").unwrap_or_default()).join("recipes.rs");
    if let Err(error) = fs::write(&target, out) {
        println!("cargo::error=cannot write {}: {error}", target.display());
    }
}
