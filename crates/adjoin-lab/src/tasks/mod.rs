//! The tasks, one folder each. Nothing else names them one by one.

pub mod node;
pub mod points;
pub mod trajectory;

pub use node::Node;
pub use points::Points;
pub use trajectory::Trajectory;

/// Names of the tasks; the first is the default.
pub const TASKS: [&str; 3] = ["node", "trajectory", "points"];

/// Runs an expression with a type that stands for the task of a name; an unknown name gives an error of usage.
///
/// ```
/// use adjoin_lab::{task::Task, with_task};
/// let about: adjoin_lab::Result<_> = with_task!("points", T => Ok(T::ABOUT));
/// assert_eq!(about.unwrap(), "classification of point clouds");
/// ```
#[macro_export]
macro_rules! with_task {
    ($name:expr, $T:ident => $body:expr) => {
        match $name {
            "node" => {
                type $T = $crate::tasks::Node;
                $body
            }
            "trajectory" => {
                type $T = $crate::tasks::Trajectory;
                $body
            }
            "points" => {
                type $T = $crate::tasks::Points;
                $body
            }
            other => Err($crate::Error::no_task(other).into()),
        }
    };
}
