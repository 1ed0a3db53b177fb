//! `countersign demo`: a desk on temporary data, an upstream it can really change, people, and an agent that calls.

mod agent;
mod client;
mod errands;
mod people;
mod story;
#[cfg(test)]
pub(crate) mod testing;
mod upstream;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use engine::Engine;
use engine::ambient::Ambient;
use tokio::net::TcpListener;

use crate::cli::print_line;
use crate::config::{self, Config, Environment};
use crate::failure::Failure;
use crate::serve;
use people::Cast;
use story::Story;
use upstream::{Secrets, Upstream};

/// The catalogue; its addresses are filled in when they are known.
const CATALOGUE: &str = include_str!("demo/demo.toml");

/// Where the desk is found when nothing else is said.
const USUAL_PORT: u16 = 8087;

const UNDONE: &str = "The demo did not start.";

/// What is asked of the demo.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wishes {
    /// 0: any free one; `None`: the usual one, or any when that is taken.
    pub(crate) port: Option<u16>,
    /// Tell where everything is in one line of JSON.
    pub(crate) json: bool,
    /// The agent makes no calls.
    pub(crate) quiet_agent: bool,
}

/// Serves until it is told to stop; then everything is gone.
///
/// # Errors
/// When a port, the folder or the engine cannot be had.
pub(crate) async fn run(wishes: Wishes) -> Result<(), Failure> {
    let folder = tempfile::Builder::new().prefix("countersign-demo-").tempdir().map_err(|error| {
        Failure::new(
            format!("No temporary folder can be made: {error}."),
            UNDONE,
            "Make room there, or set TMPDIR.",
        )
    })?;
    let ambient = Ambient::system();
    let secrets = Secrets::fresh(&ambient);
    let desk = listen(wishes.port).await?;
    let upstream_listener = serve::listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
    let places = Places { desk: serve::address(&desk)?, upstream: serve::address(&upstream_listener)? };
    let upstream = tokio::spawn(Upstream::new(&secrets, ambient.clone()).serve(upstream_listener));
    let engine = open(folder.path(), filled_in(places), &secrets).await?;
    let cast = Cast::assemble(&engine, &ambient).await?;
    let story = Story { places, cast: &cast, quiet_agent: wishes.quiet_agent };
    let stop = serve::Stop::listen()?;
    if wishes.json {
        story.tell_programs()?;
    } else {
        story.tell_people()?;
    }
    let agent =
        (!wishes.quiet_agent).then(|| tokio::spawn(agent::run(places.desk, cast.keys(), !wishes.json)));
    let served = serve::serve(engine, desk, stop).await;
    upstream.abort();
    if let Some(agent) = agent {
        agent.abort();
    }
    drop(folder);
    if !wishes.json {
        print_line("\nThe demo has stopped. Its data, people and keys are gone.")?;
    }
    served
}

/// Where the two servers are.
#[derive(Debug, Clone, Copy)]
struct Places {
    desk: SocketAddr,
    upstream: SocketAddr,
}

impl Places {
    fn desk_url(self) -> String {
        format!("http://{}", self.desk)
    }

    fn upstream_url(self) -> String {
        format!("http://{}", self.upstream)
    }
}

/// The desk's listener.
async fn listen(port: Option<u16>) -> Result<TcpListener, Failure> {
    let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    match port {
        Some(port) => serve::listen(at(port)).await,
        None => match TcpListener::bind(at(USUAL_PORT)).await {
            Ok(listener) => Ok(listener),
            Err(_) => serve::listen(at(0)).await,
        },
    }
}

/// The engine over this catalogue and a fresh database in the folder.
async fn open(folder: &Path, text: String, secrets: &Secrets) -> Result<Engine, Failure> {
    let config = Config::new(&folder.join("demo.toml"), text);
    let catalogue = config.usable_catalogue()?;
    // Of the process's environment nothing counts: a demo must not touch a real database or use a real key.
    let engine = config::open(&config, catalogue, Environment::default()).await?;
    for (credential, secret) in secrets.by_credential() {
        engine.set_secret(credential, secret).await.map_err(|refusal| Failure::refused(&refusal, UNDONE))?;
    }
    Ok(engine)
}

/// The catalogue with its addresses.
fn filled_in(places: Places) -> String {
    CATALOGUE
        .replace("@LISTEN@", &places.desk.to_string())
        .replace("@DESK@", &places.desk_url())
        .replace("@UPSTREAM_HOST@", &places.upstream.to_string())
        .replace("@UPSTREAM@", &places.upstream_url())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Places { desk: at(8087), upstream: at(9000) }
    }

    #[test]
    fn every_address_is_filled_in() {
        let text = filled_in(places());
        let body = text.lines().filter(|line| !line.starts_with('#')).collect::<String>();
        assert!(
            !body.contains("@DESK") && !body.contains("@UPSTREAM") && !body.contains("@LISTEN"),
            "{body}"
        );
    }
}
