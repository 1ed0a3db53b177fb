//! The countersign binary: routers, sign-in and the command line.

mod accept;
mod api;
mod cli;
mod config;
mod demo;
mod doctor;
mod failure;
mod handlers;
mod import;
mod log;
mod mcp;
mod memory;
mod pages;
mod peer;
mod problem;
mod receipt_export;
mod reload;
mod request_id;
mod serve;
mod session_store;

#[tokio::main]
async fn main() -> std::process::ExitCode {
    cli::run().await
}
