//! The set-up: `./just`, the scripts in `.setup` and those behind recipes, on machines and from folders that are not as ours.

mod environment;
mod home;
mod paths;
mod plain;
mod scripts;
mod wheels;
