//! One connection to one checked address.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};
use url::Host;

use super::address::{Reach, reach};
use super::blocked::Blocked;
use super::policy::{self, Target};
use super::resolver::Resolver;
use super::sent::NeverLeft;
use super::tls::Tls;
use super::trace::{Tap, Trace, Wire};
use crate::fail_point;

/// All addresses of a host are checked, and this many of them tried.
const TRIED: usize = 8;

/// What HTTP can be spoken over.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A connection that is ready for the request, and the notes about it.
pub(super) struct Link {
    pub(super) stream: Box<dyn Stream>,
    pub(super) trace: Trace,
}

/// Resolves, checks, connects and shakes hands, all within the time.
pub(super) async fn open(
    target: &Target,
    resolver: &dyn Resolver,
    tls: &Tls,
    within: Duration,
) -> Result<Link, NeverLeft> {
    let deadline = Instant::now() + within;
    let opened = timeout_at(deadline, async {
        let addresses = addresses(target, resolver).await?;
        let socket = connect(&addresses, target.port, deadline).await?;
        secure(target, tls, socket).await
    });
    opened.await.unwrap_or(Err(NeverLeft::TimedOut))
}

/// The addresses of the host, every one of which may be connected to. One bad address condemns the host: whoever
/// mixes a private address among public ones hopes that the check and the connection pick different ones.
async fn addresses(target: &Target, resolver: &dyn Resolver) -> Result<Vec<IpAddr>, NeverLeft> {
    let addresses = match &target.host {
        Host::Ipv4(address) => vec![(*address).into()],
        Host::Ipv6(address) => vec![(*address).into()],
        Host::Domain(name) => resolver.resolve(name).await.map_err(|error| {
            tracing::warn!(host = name, %error, "a host could not be resolved");
            NeverLeft::Resolve
        })?,
    };
    let worst = addresses.iter().copied().map(reach).fold(Reach::Public, Ord::max);
    policy::check_reach(worst, target.allow_private).map_err(Blocked::from)?;
    if addresses.is_empty() { Err(NeverLeft::Resolve) } else { Ok(addresses) }
}

/// The first address that can be connected to. Nothing of the request leaves here, so trying the next is no second
/// send; each try has its share of what is left of the time, so that one dead address does not use it up.
async fn connect(addresses: &[IpAddr], port: u16, deadline: Instant) -> Result<TcpStream, NeverLeft> {
    let tried = &addresses[..addresses.len().min(TRIED)];
    let mut why = NeverLeft::Connect;
    for (address, left) in tried.iter().zip((1..=tried.len()).rev()) {
        let share = deadline.saturating_duration_since(Instant::now()) / u32::try_from(left).unwrap_or(1);
        match timeout(share, TcpStream::connect(SocketAddr::new(*address, port))).await {
            Ok(Ok(socket)) => return Ok(socket),
            Ok(Err(error)) => {
                tracing::warn!(%address, port, %error, "an address could not be connected to");
                why = NeverLeft::Connect;
            }
            Err(_) => {
                tracing::warn!(%address, port, "an address could not be connected to in time");
                why = NeverLeft::TimedOut;
            }
        }
    }
    Err(why)
}

/// The connection that the request can go over: TLS where the scheme says so.
async fn secure(target: &Target, tls: &Tls, socket: TcpStream) -> Result<Link, NeverLeft> {
    // The request is written in one go; waiting for more to send with it only costs time.
    socket.set_nodelay(true).map_err(|_| NeverLeft::Connect)?;
    fail_point::reach("connected").await;
    #[cfg(feature = "fail-points")]
    let socket = super::halting::Halting::new(socket);
    let trace = Trace::default();
    let wire = Wire::new(socket, trace.clone());
    let stream: Box<dyn Stream> = if target.tls {
        let stream = tls.connect(&target.host, wire).await.map_err(|error| {
            tracing::warn!(host = %target.host, %error, "a TLS handshake failed");
            NeverLeft::Tls
        })?;
        Box::new(Tap::new(stream, trace.clone()))
    } else {
        Box::new(Tap::new(wire, trace.clone()))
    };
    trace.open();
    Ok(Link { stream, trace })
}
