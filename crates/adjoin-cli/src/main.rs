//! The `adjoin` command: learns graph neighbourhoods jointly with the network that uses them.
#![deny(unsafe_code)]

mod allocator;
mod commands;
mod failure;
mod help;
mod progress;
mod table;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

/// Learns, for every node of a graph, which neighbours it should have and how many.
#[derive(Parser)]
#[command(
    name = "adjoin",
    version,
    about,
    after_help = "\
Examples:
  adjoin train                          GCN on Cora with and without a learned graph, clean and damaged
  adjoin train --dataset ./my-graph     your own nodes.csv and edges.csv
  adjoin list learners                  what can be named: learners, backbones, datasets, recipes, keys
  adjoin COMMAND --help                 more on each command, with examples"
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

/// What `adjoin` alone says.
const GREETING: &str = "\
adjoin learns, for every node of a graph, which neighbours it should have and how many.

  adjoin train                        GCN on Cora with and without a learned graph, clean and damaged: a minute
  adjoin train --dataset ./my-graph   your own graph, a folder with nodes.csv and edges.csv
  adjoin --help                       all commands
";

#[derive(Subcommand)]
enum Command {
    Train(commands::train::Train),
    Evaluate(commands::evaluate::Evaluate),
    Predict(commands::predict::Predict),
    Graph(commands::graph::Graph),
    Report(commands::report::Report),
    Data(commands::data::Data),
    Reproduce(commands::reproduce::Reproduce),
    Bench(commands::bench::Bench),
    Config(commands::config::Config),
    List(commands::list::List),
    Completions(commands::completions::Completions),
}

/// The command with help that names what the tables of tasks, networks and learners hold.
fn command() -> clap::Command {
    [("train", true), ("config", false)].into_iter().fold(Cli::command(), |cli, (part, several)| {
        let names = help::names(several);
        cli.mut_subcommand(part, |command| {
            let command = command.mut_arg("learner", |arg| arg.help(names.learners));
            command.mut_arg("backbone", |arg| arg.help(names.backbones))
        })
    })
}

fn main() -> ExitCode {
    allocator::keep_pages();
    // clap itself ends with 2 on wrong usage.
    let cli = Cli::from_arg_matches(&command().get_matches()).unwrap_or_else(|e| e.exit());
    let Some(command) = cli.command else {
        return match failure::print(GREETING) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.report(),
        };
    };
    let result = match command {
        Command::Train(command) => command.run(),
        Command::Evaluate(command) => command.run(),
        Command::Predict(command) => command.run(),
        Command::Graph(command) => command.run(),
        Command::Report(command) => command.run(),
        Command::Data(command) => command.run(),
        Command::Reproduce(command) => command.run(),
        Command::Bench(command) => command.run(),
        Command::Config(command) => command.run(),
        Command::List(command) => command.run(),
        Command::Completions(command) => command.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
