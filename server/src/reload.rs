//! The catalogue is read again when the process is told so (SIGHUP). One with mistakes changes nothing.

use std::path::PathBuf;

use engine::Engine;
use engine::credential_secret::CredentialLine;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;

use crate::config::Config;
use crate::failure::Failure;

/// Reads the file again at every SIGHUP, for as long as the process runs. Without this the signal would end it.
///
/// # Errors
/// When the signal cannot be heard.
pub(crate) fn on_signal(engine: Engine, file: Option<PathBuf>) -> std::io::Result<JoinHandle<()>> {
    let mut hang_ups = signal(SignalKind::hangup())?;
    Ok(tokio::spawn(async move {
        while hang_ups.recv().await.is_some() {
            match reload(&engine, file.as_deref()) {
                Ok(()) => {
                    tracing::info!("the catalogue was read again");
                    tell_of_missing_secrets(&engine).await;
                }
                Err(failure) => tracing::error!(%failure, "the catalogue was not changed"),
            }
        }
    }))
}

/// Actions, credentials and surfaces count from now on. Addresses, the database and egress limits count from the next
/// start; the public address stays the one people know.
fn reload(engine: &Engine, file: Option<&std::path::Path>) -> Result<(), Failure> {
    let mut catalogue = Config::find(file)?.usable_catalogue()?;
    catalogue.server.public_url = engine.catalogue().server.public_url.clone();
    engine.replace_catalogue(catalogue);
    Ok(())
}

/// Says in the log which credentials have no secret. The server goes on: everything else can be done.
pub(crate) async fn tell_of_missing_secrets(engine: &Engine) {
    for warning in engine::notice::warnings(&engine.catalogue()) {
        tracing::warn!("{warning}");
    }
    match engine.locked_out().await {
        Ok(warning) => warning.into_iter().for_each(|warning| tracing::warn!("{warning}")),
        Err(refusal) => {
            tracing::error!(code = %refusal.problem().code, "whether an admin can sign in could not be seen");
        }
    }
    match engine.secret_lines().await {
        Ok(lines) => {
            lines.iter().filter_map(CredentialLine::warning).for_each(|warning| tracing::warn!("{warning}"));
        }
        Err(refusal) => {
            tracing::error!(code = %refusal.problem().code, "whether every credential has its secret could not be seen");
        }
    }
}
