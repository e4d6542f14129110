//! The parts of the lab, one by one, through what is public. One binary: each costs a link.

mod checkpoint;
mod files;
mod graph;
mod node;
mod report;
mod reproduce;
mod scaling;
mod schema;
mod settings;
mod stats;
mod tensorboard;
mod trajectory;
mod world;
