//! What an on-call person looks at: counters and times of this process, and how much is open in the database.
//!
//! Every label comes from a closed list in this code. No name of an action, a credential, an agent or a person is one:
//! the numbers are answered to whoever asks.

use std::fmt;
use std::time::{Duration, Instant};

use model::{CallStatus, Verdict};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use tokio::sync::Mutex;

use crate::engine::Engine;
use crate::store::{Connections, Load, StoreError, Tally};

/// For how long a look into the database serves everybody who asks.
const FRESH: Duration = Duration::from_secs(1);

/// The ages that part held calls, in seconds, and the word for those that are younger than each, and for the rest.
const AGES: [(i64, &str); 4] = [(60, "1m"), (600, "10m"), (3_600, "1h"), (86_400, "1d")];
const OLDER: &str = "older";

/// The numbers of one process.
pub(crate) struct Metrics {
    registry: Registry,
    steps: Family<StepLabel, Histogram, Buckets>,
    sends: Family<EndLabel, Histogram, Buckets>,
    decisions: Family<DecisionLabel, Histogram, Buckets>,
    seen: Mutex<Option<(Instant, Load)>>,
}

/// A part of the pipeline whose time is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// Steps 2 to 9: whether this caller may do this, with this input.
    Allow,
    /// Step 10: the idempotency claim.
    Claim,
    /// Step 11: the gate, with its dry run, and the held call's row.
    Gate,
    /// Steps 12 and 13: the send and its record, or the handler and its record.
    Run,
}

impl Step {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Claim => "claim",
            Self::Gate => "gate",
            Self::Run => "run",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StepLabel {
    step: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EndLabel {
    status: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DecisionLabel {
    decision: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AgeLabel {
    younger_than: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

/// The borders of a histogram: the first in seconds, the factor between two, how many.
#[derive(Debug, Clone, Copy)]
struct Buckets(f64, f64, u16);

impl Buckets {
    /// 0.1 ms to 60 s.
    const WORK: Self = Self(0.000_1, 3.0, 13);
    /// 5 ms to 80 s.
    const SEND: Self = Self(0.005, 2.0, 15);
    /// 1 s to 3 days.
    const PERSON: Self = Self(1.0, 4.0, 10);
}

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(exponential_buckets(self.0, self.1, self.2))
    }
}

impl Metrics {
    pub(crate) fn new(tally: Tally) -> Self {
        let steps = Family::new_with_constructor(Buckets::WORK);
        let sends = Family::new_with_constructor(Buckets::SEND);
        let decisions = Family::new_with_constructor(Buckets::PERSON);
        let mut registry = Registry::with_prefix("countersign");
        registry.register(
            "events",
            "Journal lines that this process made durable, by type and surface",
            tally,
        );
        registry.register_with_unit(
            "step",
            "Time in a part of the pipeline; run includes waiting for the service",
            Unit::Seconds,
            steps.clone(),
        );
        registry.register_with_unit(
            "send",
            "Time from the durable intent to the end of a send, by how it ended",
            Unit::Seconds,
            sends.clone(),
        );
        registry.register_with_unit(
            "decision",
            "Time from the holding of a call to a person's word on it",
            Unit::Seconds,
            decisions.clone(),
        );
        // A line that appears only with its first event is one that nobody can alert on.
        for step in [Step::Allow, Step::Claim, Step::Gate, Step::Run] {
            drop(steps.get_or_create(&StepLabel { step: step.as_str() }));
        }
        for status in [CallStatus::Done, CallStatus::Refused, CallStatus::Failed, CallStatus::InDoubt] {
            drop(sends.get_or_create(&EndLabel { status: status.as_str() }));
        }
        for verdict in Verdict::ALL {
            drop(decisions.get_or_create(&DecisionLabel { decision: verdict.as_str() }));
        }
        Self { registry, steps, sends, decisions, seen: Mutex::default() }
    }

    /// Begins to measure the parts of one call's way.
    pub(crate) fn watch(&self, step: Step) -> Watch<'_> {
        Watch { metrics: self, step, begun: Instant::now() }
    }

    /// A send ended.
    pub(crate) fn sent(&self, status: CallStatus, took: Duration) {
        self.sends.get_or_create(&EndLabel { status: status.as_str() }).observe(took.as_secs_f64());
    }

    /// A person gave a word that counts, so many seconds after the call was held.
    #[expect(clippy::cast_precision_loss, reason = "microseconds of centuries fit")]
    pub(crate) fn decided(&self, verdict: Verdict, micros: i64) {
        let label = DecisionLabel { decision: verdict.as_str() };
        self.decisions.get_or_create(&label).observe(micros.max(0) as f64 / 1e6);
    }
}

/// Measures one part after the other; the last one ends with it, however the call went.
pub(crate) struct Watch<'a> {
    metrics: &'a Metrics,
    step: Step,
    begun: Instant,
}

impl Watch<'_> {
    /// The next part begins.
    pub(crate) fn next(&mut self, step: Step) {
        self.tell();
        self.step = step;
        self.begun = Instant::now();
    }

    fn tell(&self) {
        let label = StepLabel { step: self.step.as_str() };
        self.metrics.steps.get_or_create(&label).observe(self.begun.elapsed().as_secs_f64());
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.tell();
    }
}

impl Engine {
    /// Every number of this engine as text in the `OpenMetrics` format, without the mark of its end. While the database is
    /// away, `database_up` is 0 and what is open is left out.
    ///
    /// # Errors
    /// What `text` says; a `String` says nothing.
    pub async fn write_metrics(&self, text: &mut String) -> fmt::Result {
        encode_registry(text, &self.metrics().registry)?;
        let load = self.load().await.ok();
        encode_registry(text, &open_now(load.as_ref(), self.store().connections()))
    }

    /// How much is open, looked up at most once a second however many ask.
    async fn load(&self) -> Result<Load, StoreError> {
        let mut seen = self.metrics().seen.lock().await;
        if let Some((_, load)) = seen.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            return Ok(load.clone());
        }
        let now = self.now();
        let ages = AGES.map(|(seconds, _)| now.plus_seconds(-seconds));
        let load = self.store().load(&ages).await?;
        *seen = Some((Instant::now(), load.clone()));
        Ok(load)
    }
}

/// The numbers of this moment. Without a database only that it is away.
fn open_now(load: Option<&Load>, connections: Option<Connections>) -> Registry {
    let mut registry = Registry::with_prefix("countersign");
    let up = Gauge::<i64>::default();
    up.set(i64::from(load.is_some()));
    registry.register("database_up", "Whether the database answered just now", up);
    if let Some(load) = load {
        let held = Family::<AgeLabel, Gauge>::default();
        let words = AGES.iter().map(|(_, word)| *word).chain([OLDER]);
        for (younger_than, count) in words.zip(&load.held) {
            set(&held.get_or_create(&AgeLabel { younger_than }), *count);
        }
        registry.register("held_calls", "Calls that wait for a person, by age; none is counted twice", held);
        let open = Family::<StateLabel, Gauge>::default();
        let states = [
            ("approved", load.approved),
            ("queued", load.queued),
            ("sending", load.sending),
            ("running", load.running),
            ("in_doubt", load.in_doubt),
        ];
        for (state, count) in states {
            set(&open.get_or_create(&StateLabel { state }), count);
        }
        registry.register("open_calls", "Calls that have not ended, beside the held ones", open);
    }
    if let Some(connections) = connections {
        let family = Family::<StateLabel, Gauge>::default();
        for (state, count) in [("busy", connections.busy), ("idle", connections.idle)] {
            set(&family.get_or_create(&StateLabel { state }), count);
        }
        registry.register("database_connections", "Connections of this process to the database", family);
    }
    registry
}

fn set(gauge: &Gauge, count: u64) {
    gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
}
