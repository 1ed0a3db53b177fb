//! The log: lines on stderr, never a body, a key or a secret.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// Libraries that would write what they carry when asked for everything.
const TALKATIVE: [&str; 4] = ["hyper=info", "hyper_util=info", "rustls=info", "sqlx=warn"];

/// Starts the log. `RUST_LOG` says what is told; `default` when it does not.
pub(crate) fn start(default: &str) {
    let mut filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    for directive in TALKATIVE.iter().filter_map(|directive| directive.parse().ok()) {
        filter = filter.add_directive(directive);
    }
    let ansi = std::io::stderr().is_terminal();
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(ansi);
    if let Err(error) = log.try_init() {
        eprintln!("countersign: there is no log: {error}");
    }
}
