//! `countersign serve`

use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use engine::Engine;
use serde_json::json;

use super::Output;
use crate::config::{self, Config, Environment};
use crate::failure::Failure;
use crate::reload::tell_of_missing_secrets;
use crate::{reload, serve};

/// Bring the database up to date and serve until told to stop (SIGTERM or SIGINT).
#[derive(Debug, Args)]
pub(super) struct Serve {
    #[command(flatten)]
    output: Output,
}

impl Serve {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        let mut catalogue = config.usable_catalogue()?;
        // The address first: a second server on it must not touch the database.
        let listener = serve::listen(catalogue.server.listen).await?;
        let listen = serve::address(&listener)?;
        if catalogue.server.public_url.port() == Some(0) {
            // Port 0 is any free one; now it is known which. An http address always takes a port.
            let _ = catalogue.server.public_url.set_port(Some(listen.port()));
        }
        let engine = config::open(config, catalogue, Environment::of_process()).await?;
        tell_of_missing_secrets(&engine).await;
        let stop = serve::Stop::listen()?;
        let reloading = reload::on_signal(engine.clone(), config.file.clone()).map_err(|error| {
            Failure::new(
                format!("SIGHUP cannot be heard: {error}."),
                "Nothing is being served.",
                "Start it again.",
            )
        })?;
        let url = engine.public_url();
        let text = format!("Countersign listens on {listen}; people open {url}");
        self.output.print(&json!({ "url": url, "listen": listen.to_string() }), &text)?;
        tell_how_to_set_up(&engine).await?;
        let served = serve::serve(engine, listener, stop).await;
        reloading.abort();
        served?;
        Ok(ExitCode::SUCCESS)
    }
}

/// While nobody has an account, the console says how the first admin is made. Whoever sees the console may do so.
async fn tell_how_to_set_up(engine: &Engine) -> Result<(), Failure> {
    let link = engine.set_up_link().await;
    let link = link.map_err(|refusal| Failure::refused(&refusal, "Nothing is being served."))?;
    if let Some(token) = link {
        tracing::warn!("nobody has an account yet: the first admin is made with the link that stands below");
        let url = engine.public_url();
        let passwords = if engine.catalogue().sign_in.passwords {
            ""
        } else {
            " (passwords are switched off: the admin signs in through the provider afterwards)"
        };
        // A console that is closed shows nothing; the server goes on.
        let _ = writeln!(
            std::io::stderr(),
            "\nSet up this desk, once, at{passwords}\n\n    {url}/set-up/{}\n",
            token.reveal()
        );
    }
    Ok(())
}
