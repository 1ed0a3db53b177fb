//! The engine: what every surface and every page calls. The verbs stand in files of their own, one noun each.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use arc_swap::{ArcSwap, Guard};
use model::{Answer, CallId, FieldError, OfferedAction, Refusal, Surface, Time};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tracing::Instrument as _;

use crate::actor::Actor;
use crate::ambient::Ambient;
use crate::arrival::Arrival;
use crate::catalogue::Catalogue;
use crate::egress::{Egress, EgressError, Limits};
use crate::ending::Ending;
use crate::feed::MOST_FEEDS;
use crate::journal::Journal;
use crate::live::Viewers;
use crate::metrics::Metrics;
use crate::notice::Outbox;
use crate::nudge::Nudges;
use crate::open_sends::OpenSends;
use crate::pipeline;
use crate::provider::Discovered;
use crate::queue::Queue;
use crate::seal::Sealer;
use crate::store::{Store, StoreError};
use crate::streams::Streams;
use crate::upstream::{Pin, Upstreams};

/// The engine. Cheap to clone.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    store: Store,
    /// What can be called now: the file, and the tools of MCP servers that were taken.
    catalogue: ArcSwap<Catalogue>,
    /// The file alone.
    written: ArcSwap<Catalogue>,
    upstreams: Upstreams,
    sealer: Sealer,
    egress: Egress,
    ambient: Ambient,
    nudges: Nudges,
    journal: Journal,
    metrics: Metrics,
    ending: Ending,
    open_sends: OpenSends,
    queue: Queue,
    outbox: Outbox,
    streams: Arc<Streams>,
    /// A permit for each feed that is open.
    feeds: Arc<Semaphore>,
    viewers: Viewers,
    /// What the sign-in provider said of itself.
    provider: Discovered,
    /// How many passwords are hashed at once.
    sign_ins: Semaphore,
    /// How many passwords were looked at.
    verifications: AtomicU64,
    /// Names this process in the leases it holds.
    node: String,
    /// Further roots of trust for TLS, as PEM.
    roots: Option<Vec<u8>>,
    /// What relative paths are relative to.
    base: PathBuf,
}

/// What an engine is opened with.
pub struct OpenOptions {
    /// The actions, the credentials and the settings.
    pub catalogue: Catalogue,
    /// `sqlite:PATH` or `postgres://…`.
    pub database_url: String,
    /// What a relative path of the database is relative to.
    pub base: PathBuf,
    /// The sealing keys.
    pub sealer: Sealer,
    /// Time and randomness.
    pub ambient: Ambient,
    /// Further roots of trust for TLS, as PEM.
    pub roots: Option<Vec<u8>>,
}

/// Why an engine cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The way out.
    #[error("connections to the world cannot be made: {0}")]
    Egress(#[from] EgressError),
}

impl Engine {
    /// Opens the database and brings its schema up to this version. Starts nothing.
    ///
    /// # Errors
    /// When the database is not there or not durable, or TLS has no roots.
    pub async fn open(options: OpenOptions) -> Result<Self, OpenError> {
        let store = Store::open(&options.database_url, &options.base).await?;
        store.migrate().await?;
        let settings = &options.catalogue.server;
        let mut egress = Egress::new(Limits {
            request_body: settings.request_limit,
            response_body: settings.response_limit,
            connect: settings.connect_timeout,
            answer: settings.timeout,
        })?;
        if let Some(pem) = &options.roots {
            egress = egress.with_roots(pem)?;
        }
        let node = data_encoding::HEXLOWER.encode(&options.ambient.bytes::<12>());
        let metrics = Metrics::new(store.tally());
        let engine = Self(Arc::new(Inner {
            store,
            catalogue: ArcSwap::from_pointee(options.catalogue.composed(&[]).0),
            written: ArcSwap::from_pointee(options.catalogue),
            upstreams: Upstreams::default(),
            sealer: options.sealer,
            egress,
            ambient: options.ambient,
            nudges: Nudges::new(),
            journal: Journal::new(),
            metrics,
            ending: Ending::new(),
            open_sends: OpenSends::default(),
            queue: Queue::new(),
            outbox: Outbox::new(),
            streams: Arc::default(),
            feeds: Arc::new(Semaphore::new(MOST_FEEDS)),
            viewers: Viewers::default(),
            provider: Discovered::default(),
            sign_ins: Semaphore::new(std::thread::available_parallelism().map_or(2, usize::from)),
            verifications: AtomicU64::new(0),
            node,
            roots: options.roots,
            base: options.base,
        }));
        engine.load_tools().await?;
        Ok(engine)
    }

    /// One call through the pipeline. `wait` is how long to wait for the end before answering "held" or "queued".
    ///
    /// The call runs in a task of its own: a caller that hangs up loses nothing.
    pub async fn call(&self, arrival: Arrival, wait: Option<Duration>) -> Result<Answer, Refusal> {
        self.call_as(CallId::from_uuid(self.ambient().uuid()), arrival, Vec::new(), wait).await
    }

    /// The same for a form that was filled in. `unread` is what the form could not make an input of: the steps that come
    /// first are asked as ever, and then it is told together with every other fault of the input. With any, nothing is
    /// done.
    pub async fn call_of_form(&self, arrival: Arrival, unread: Vec<FieldError>) -> Result<Answer, Refusal> {
        self.call_as(CallId::from_uuid(self.ambient().uuid()), arrival, unread, None).await
    }

    /// The same under an id that was made before.
    pub(crate) async fn call_as(
        &self,
        id: CallId,
        arrival: Arrival,
        unread: Vec<FieldError>,
        wait: Option<Duration>,
    ) -> Result<Answer, Refusal> {
        note_call(id);
        let engine = self.clone();
        let running = self.spawn(async move { Box::pin(pipeline::run(&engine, id, arrival, unread)).await });
        let answer = match running.await {
            Ok(answer) => answer?,
            Err(error) => {
                tracing::error!(%error, call = %id, "a call ended in a fault of the desk");
                return Err(self.after_fault(id).await);
            }
        };
        match (answer, wait) {
            (Answer::Waiting(waiting), Some(wait)) => self.wait_for_end(waiting, wait).await,
            (answer, _) => Ok(answer),
        }
    }

    /// What may be said of a call that ended in a fault: that nothing was done, only when nothing was begun.
    async fn after_fault(&self, id: CallId) -> Refusal {
        match self.store().call(id).await {
            Ok(None) => Refusal::Unavailable,
            _ => Refusal::OutcomeUnknown(id),
        }
    }

    /// What this caller would be offered now.
    pub async fn offered(
        &self,
        actor: &Actor,
        surface: Surface,
        tenant: Option<&str>,
    ) -> Result<Vec<OfferedAction>, Refusal> {
        pipeline::offered(self, actor, surface, tenant).await
    }

    /// Whether the desk can do its work: the database answers and has this version's schema.
    pub async fn ready(&self) -> Result<(), Refusal> {
        if self.store().ready().await? { Ok(()) } else { Err(Refusal::Unavailable) }
    }

    /// Replaces the catalogue. Calls on their way go on with what they found; held ones are checked again at Confirm.
    pub fn replace_catalogue(&self, catalogue: Catalogue) {
        self.0.upstreams.compose(|pins| {
            let (composed, unfit) = catalogue.composed(pins);
            catalogue.speak_as(&self.written());
            self.0.written.store(Arc::new(catalogue));
            self.0.catalogue.store(Arc::new(composed));
            unfit
        });
    }

    /// Puts the actions together anew, when other tools count than before.
    pub(crate) fn set_pins(&self, pins: Vec<Arc<Pin>>) {
        self.0.upstreams.recompose(pins, |pins| {
            let (composed, unfit) = self.written().composed(pins);
            self.0.catalogue.store(Arc::new(composed));
            unfit
        });
    }

    /// The catalogue as it is written, without the tools of MCP servers.
    pub(crate) fn written(&self) -> Guard<Arc<Catalogue>> {
        self.0.written.load()
    }

    pub(crate) fn upstreams(&self) -> &Upstreams {
        &self.0.upstreams
    }

    /// Runs work that outlives whoever asked for it; the end of the process waits for it.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        // Counted from here on, not from its first turn, or an end in between would miss it.
        let underway = self.ending().begin();
        let work = async move {
            let _underway = underway;
            work.await
        };
        tokio::spawn(work.in_current_span())
    }

    /// Closes the database. Nothing may be called afterwards.
    pub async fn close(&self) {
        self.store().close().await;
    }

    /// Now.
    pub fn now(&self) -> Time {
        self.0.ambient.now()
    }

    /// The address that people and agents know the desk by, without a trailing slash.
    pub fn public_url(&self) -> String {
        self.catalogue().server.public_url.as_str().trim_end_matches('/').to_owned()
    }

    /// The address of a path of the desk.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.public_url())
    }

    /// The catalogue as it stands now.
    pub fn catalogue(&self) -> Guard<Arc<Catalogue>> {
        self.0.catalogue.load()
    }

    /// What relative paths are relative to: the catalogue's folder.
    pub(crate) fn base(&self) -> &Path {
        &self.0.base
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn sealer(&self) -> &Sealer {
        &self.0.sealer
    }

    pub(crate) fn egress(&self) -> &Egress {
        &self.0.egress
    }

    pub(crate) fn ambient(&self) -> &Ambient {
        &self.0.ambient
    }

    pub(crate) fn nudges(&self) -> &Nudges {
        &self.0.nudges
    }

    pub(crate) fn journal(&self) -> &Journal {
        &self.0.journal
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    pub(crate) fn ending(&self) -> &Ending {
        &self.0.ending
    }

    pub(crate) fn open_sends(&self) -> &OpenSends {
        &self.0.open_sends
    }

    pub(crate) fn outbox(&self) -> &Outbox {
        &self.0.outbox
    }

    pub(crate) fn queue(&self) -> &Queue {
        &self.0.queue
    }

    pub(crate) fn streams(&self) -> &Arc<Streams> {
        &self.0.streams
    }

    pub(crate) fn feeds(&self) -> &Arc<Semaphore> {
        &self.0.feeds
    }

    pub(crate) fn viewers(&self) -> &Viewers {
        &self.0.viewers
    }

    pub(crate) fn provider_known(&self) -> &Discovered {
        &self.0.provider
    }

    pub(crate) fn sign_ins(&self) -> &Semaphore {
        &self.0.sign_ins
    }

    pub(crate) fn verifications(&self) -> &AtomicU64 {
        &self.0.verifications
    }

    pub(crate) fn node(&self) -> &str {
        &self.0.node
    }

    /// Further roots of trust for TLS, as PEM.
    pub(crate) fn roots(&self) -> Option<&[u8]> {
        self.0.roots.as_deref()
    }

    /// Until when this process answers for a send that it begins or renews now.
    pub(crate) fn lease_end(&self) -> Time {
        let lease = self.catalogue().server.lease;
        self.now().plus_millis(i64::try_from(lease.as_millis()).unwrap_or(i64::MAX))
    }

    /// A setting's whole seconds.
    #[expect(clippy::unused_self, reason = "reads better at the call sites")]
    pub(crate) fn seconds(&self, duration: Duration) -> i64 {
        i64::try_from(duration.as_secs()).unwrap_or(i64::MAX)
    }
}

/// Tells the log, where somebody's request is being answered, which call it is about.
pub(crate) fn note_call(id: CallId) {
    tracing::Span::current().record("call", tracing::field::display(id));
}
