//! One request for a page: who visits, where, and what was posted just before.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use chrono_tz::Tz;
use engine::{Engine, PersonActor, time_zone};
use leptos::prelude::use_context;

use crate::form::Posted;

/// One request for a page.
#[derive(Clone)]
pub struct Visit {
    /// The engine.
    pub engine: Engine,
    /// Who is signed in.
    pub visitor: Option<PersonActor>,
    /// What the session that asks is stored under.
    pub session: Option<[u8; 32]>,
    /// Where the request comes from.
    pub from: Option<IpAddr>,
    /// Path and query of the page, beginning with `/`.
    pub address: String,
    /// A form that was posted and has to be shown again.
    pub posted: Option<Arc<Posted>>,
    /// Where the style sheet, the script and the icon are.
    pub assets: Assets,
}

/// Addresses of what a page loads.
#[derive(Debug, Clone, Copy)]
pub struct Assets {
    /// The style sheet.
    pub style: &'static str,
    /// The ES module.
    pub script: &'static str,
    /// The icon (SVG).
    pub icon: &'static str,
    /// The ES module of the page of notices.
    pub notices: &'static str,
    /// The ES module of the pages that ask for passkeys.
    pub passkeys: &'static str,
}

impl Visit {
    /// The visit that is being answered. Only inside a page.
    pub(crate) fn here() -> Option<Self> {
        use_context()
    }

    /// What was posted to this form just before, to be shown again.
    pub(crate) fn posted(&self, form: &str) -> Option<Arc<Posted>> {
        self.posted.clone().filter(|posted| posted.form == form)
    }
}

/// The zone in which a page shows times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Zone(pub(crate) Tz);

impl Visit {
    /// The zone that the visitor reads times in; without one of their own, UTC.
    pub(crate) fn zone(&self) -> Zone {
        let own = self.visitor.as_ref().and_then(|me| me.person().time_zone.as_deref());
        Zone(own.and_then(time_zone::named).unwrap_or(Tz::UTC))
    }
}

impl Zone {
    /// The zone of the page that is being made.
    pub(crate) fn here() -> Self {
        use_context().unwrap_or(Self(Tz::UTC))
    }
}

/// What a page says about itself while it is made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reply(Arc<Mutex<ReplyParts>>);

/// The parts of an answer that do not stand in the page's body.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReplyParts {
    /// The HTTP status; 0 stands for 200.
    pub(crate) status: u16,
    /// Go there instead.
    pub(crate) redirect: Option<String>,
    /// The title of the page, as plain text.
    pub(crate) title: String,
    /// Seconds after which a browser without scripts asks again.
    pub(crate) refresh: Option<u32>,
    /// The page's body, where it has been rendered already.
    pub(crate) body: Option<String>,
}

impl Reply {
    /// Changes the parts.
    pub(crate) fn set(&self, change: impl FnOnce(&mut ReplyParts)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The parts as they stand: nothing is said after them.
    pub(crate) fn take(&self) -> ReplyParts {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
