//! The filters of a list of receipts, and what they show.

use engine::{Engine, Leaf, PageAsked, PersonActor};
use leptos::prelude::*;
use leptos_router::params::ParamsMap;
use model::{Outcome, PersonId, ReceiptFacts, Refusal};

use super::filters::{Filter, filters};
use super::link::with_query;
use super::pager::turns;
use super::receipts::receipts;
use super::{text, time};
use crate::receipt_filter::{self, Asked, NAMES};
use crate::visit::Reply;
use crate::words;

/// A list of receipts with its filters: of everybody this visitor may see, or of one person.
pub(crate) struct ReceiptList<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) me: &'a PersonActor,
    pub(crate) query: &'a ParamsMap,
    /// Told when the address cannot be read.
    pub(crate) reply: Option<Reply>,
    /// The page's own address.
    pub(crate) path: String,
    /// Whose receipts the page is of.
    pub(crate) of: Option<PersonId>,
}

impl ReceiptList<'_> {
    /// The filters, the table, the way on, and the exports. `none`: what is said where nothing has been sent yet.
    pub(crate) async fn view(&self, none: &'static str) -> Result<AnyView, Refusal> {
        let asked = self.asked();
        let leaf = if asked.faults.is_empty() {
            let page = PageAsked {
                limit: None,
                cursor: self.query.get("cursor").filter(|cursor| !cursor.is_empty()),
            };
            Some(self.engine.done(self.me, &asked.filter, &page).await?)
        } else {
            if let Some(reply) = &self.reply {
                reply.set(|parts| parts.status = 422);
            }
            None
        };
        let kept = self.kept();
        let is_filtered = kept.iter().any(|(_, value)| !value.is_empty());
        let filters = self.filters(&asked, is_filtered).await?;
        let list = leaf.as_ref().map(|leaf| self.list(leaf, &kept, is_filtered, none));
        let unread = leaf.is_none().then(|| {
            view! { <p class="nothing" role="alert">"Nothing is shown: not every filter could be read. Mend the ones that are marked."</p> }
        });
        Ok(view! { {filters} {unread} {list} }.into_any())
    }

    /// What the address narrows the list to.
    fn asked(&self) -> Asked {
        let mut asked = receipt_filter::read(|name| {
            self.query.get(name).filter(|_| self.of.is_none() || name != "person")
        });
        asked.filter.person = self.of.or(asked.filter.person);
        asked
    }

    /// The filters as they stand in the address.
    fn kept(&self) -> Vec<(&'static str, String)> {
        let names = NAMES.into_iter().filter(|name| self.of.is_none() || *name != "person");
        names.map(|name| (name, self.query.get(name).unwrap_or_default())).collect()
    }

    fn list(
        &self,
        leaf: &Leaf<ReceiptFacts>,
        kept: &[(&'static str, String)],
        is_filtered: bool,
        none: &'static str,
    ) -> AnyView {
        let now = self.engine.now();
        let everyone = self.me.person().is_operator();
        let table = if leaf.items.is_empty() {
            self.nothing(leaf, is_filtered, none)
        } else {
            receipts(&leaf.items, self.me.id(), everyone, now)
        };
        let has_any = !leaf.items.is_empty() || leaf.older.is_some() || leaf.newer.is_some();
        let looked = leaf.looked_to.map(|at| {
            let on = if leaf.older.is_some() { "Older" } else { "Newer" };
            view! { <p class="looked">"Looked back to " {time::full(at)} ". " {on} " goes on from there."</p> }
        });
        view! {
            {table}
            {looked}
            <div class="list-end">
                {turns(&self.path, kept, leaf.newer.as_deref(), leaf.older.as_deref())}
                {has_any.then(|| self.exports(kept))}
            </div>
        }
        .into_any()
    }

    fn nothing(&self, leaf: &Leaf<ReceiptFacts>, is_filtered: bool, none: &'static str) -> AnyView {
        if leaf.looked_to.is_some() {
            return view! { <p class="nothing">"No receipt fits so far."</p> }.into_any();
        }
        if is_filtered {
            let all = self.path.clone();
            return view! { <p class="nothing">"No receipt fits these filters. " <a href=all>"Show all"</a></p> }
                .into_any();
        }
        view! { <p class="nothing">{none}</p> }.into_any()
    }

    /// What the filters show, as files.
    fn exports(&self, kept: &[(&'static str, String)]) -> AnyView {
        let of = self.of.map(|id| id.to_string()).unwrap_or_default();
        let file = |path: &str| {
            let pairs = kept.iter().map(|(name, value)| (*name, value.as_str()));
            with_query(path, pairs.chain([("person", of.as_str())]))
        };
        view! {
            <p class="exports">"All of these as a file: " <a href=file("/done/export.csv") download="">"CSV"</a> " " <a href=file("/done/export.jsonl") download="">"JSON Lines"</a></p>
        }
        .into_any()
    }

    async fn filters(&self, asked: &Asked, is_filtered: bool) -> Result<AnyView, Refusal> {
        let value = |name: &str| self.query.get(name).unwrap_or_default();
        let mut all = Vec::new();
        if self.of.is_none() && self.me.person().is_operator() {
            let people = self.engine.people(self.me).await?;
            let people =
                people.iter().map(|person| (person.id.to_string(), text::plain(&person.name))).collect();
            all.push(Filter::choice("person", "Person", "Everyone", people));
        }
        for (name, label) in [("agent", "Agent"), ("action", "Action"), ("host", "Host")] {
            all.push(Filter::text(name, label));
        }
        let outcomes =
            Outcome::ALL.iter().map(|one| (one.as_str().to_owned(), words::outcome(*one).to_owned()));
        all.push(Filter::choice("outcome", "Outcome", "Any", outcomes.collect()));
        all.extend([Filter::day("from", "From"), Filter::day("to", "To")]);
        Ok(filters("Receipts", &self.path, all, value, &asked.faults, is_filtered))
    }
}
