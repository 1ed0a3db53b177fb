//! From names to addresses.

use std::io;
use std::net::IpAddr;

use async_trait::async_trait;

/// Resolves host names. Asked once per send, and never for a host that is an address already.
#[async_trait]
pub trait Resolver: Send + Sync + 'static {
    /// Every address of the host, the preferred ones first.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The operating system's resolver.
#[derive(Debug, Clone, Copy)]
pub struct SystemResolver;

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}
