//! Help that is read from the tables of tasks, networks and learners.

use adjoin_lab::{Error, task::Task, tasks::TASKS, with_task};

/// Names that options take, for their help.
pub struct Names {
    /// Of networks.
    pub backbones: String,
    /// Of learners.
    pub learners: String,
}

/// The names of all tasks, for a command that takes several learners or one.
pub fn names(several: bool) -> Names {
    let of = |task| with_task!(task, T => Ok(of_task::<T>(several))).unwrap_or_else(none);
    let all = TASKS.map(of);
    let join = |pick: fn(&[String; 2]) -> &String| {
        all.iter().map(pick).cloned().collect::<Vec<_>>().join("; ")
    };
    Names {
        backbones: format!("The network: {}", join(|[backbones, _]| backbones)),
        learners: format!(
            "{}: {}. With +consistency after the name of a learner of \
             nodes, predictions over several draws are made to agree",
            if several {
                "Learners of the graph, with commas between"
            } else {
                "The learner of the graph"
            },
            join(|[_, learners]| learners)
        ),
    }
}

fn of_task<T: Task>(several: bool) -> [String; 2] {
    let list = |names: Vec<adjoin_lab::task::Named>| {
        names.into_iter().map(|one| one.name).collect::<Vec<_>>().join(", ")
    };
    let of = if T::NAME == TASKS[0] { String::new() } else { format!("for {} ", T::NAME) };
    let (backbone, plain) = (T::BACKBONE, T::PLAIN);
    let learner = if several { format!("{plain},dgg") } else { "dgg".into() };
    [
        format!("{of}{} [default: {backbone}]", list(T::backbones())),
        format!("{of}{} [default: {learner}]", list(T::learners())),
    ]
}

fn none(_: Error) -> [String; 2] {
    Default::default()
}
