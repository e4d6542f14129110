//! Names of datasets of all tasks, and what to say about one that is not known.

/// All names, with the task that the data is for.
pub(crate) const NAMES: &[(&str, &[&str])] = &[
    (
        "node",
        &[
            "cora",
            "citeseer",
            "pubmed",
            "amazon_photo",
            "amazon_cs",
            "coauthor_cs",
            "coauthor_phy",
            "actor",
            "chameleon",
            "chameleon_filtered",
            "squirrel",
            "squirrel_filtered",
            "cornell",
            "minesweeper",
            "nell",
        ],
    ),
    (
        "trajectory",
        &[
            "crowd",
            "eth",
            "hotel",
            "univ",
            "zara1",
            "zara2",
            "sdd",
            "sdd-trajnet",
            "nba-atk-10",
            "nba-atk-20",
            "nba-atk-40",
            "nba-def-10",
            "nba-def-20",
            "nba-def-40",
        ],
    ),
    ("points", &["shapes", "modelnet40", "modelnet10"]),
];

/// What to say about a name that is not among the known ones of a task.
pub(crate) fn suggestion(name: &str, names: &[&str]) -> String {
    let other = |(_, all): &&(&str, &[&str])| all.iter().any(|known| is_same(known, name));
    if let Some((task, _)) = NAMES.iter().find(other) {
        return format!("it is data for --task {task}");
    }
    let distance = |known: &str| {
        let short = |text: &str| text.chars().take(40).collect::<String>();
        strsim::levenshtein(&short(name), &short(known))
    };
    let nearest = names.iter().map(|known| (distance(known), *known)).min();
    let all = names.join(", ");
    match nearest {
        Some((steps, known)) if steps <= 3 && steps < known.len() => {
            format!(
                "did you mean `{known}`? known are: {all}; or give the path of a folder or file"
            )
        }
        _ => format!("known are: {all}; or give the path of a folder or file"),
    }
}

/// Capitals do not matter, nor does `-` for `_`.
fn is_same(known: &str, name: &str) -> bool {
    let plain = |text: &str| text.to_ascii_lowercase().replace('-', "_");
    plain(known) == plain(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_is_named_here() {
        let lists = [
            crate::list().iter().map(|known| known.name).collect::<Vec<_>>(),
            crate::trajectory::list().iter().map(|known| known.name).collect(),
            crate::points::list().iter().map(|known| known.name).collect(),
        ];
        for ((task, names), found) in NAMES.iter().zip(lists) {
            assert_eq!(names.to_vec(), found, "{task}");
        }
    }
}
