//! Who decides a call, and for whom. It is written here alone: whoever asks puts its question together of these parts.
//!
//! Somebody has *voices*: their own, and that of everybody in whose place they are while a delegation runs. A voice decides a
//! call by what its person is called in the call's list of approvers. Where the owner is barred, they are barred from both
//! ends: as a voice and as the one who speaks. A delegation passes on what the delegator may do by themselves, nothing that
//! was passed on to them: there are no chains.
//!
//! `$1` is the person who asks, `c` the call.

/// What the person `$1` is called in lists of approvers, by whose voice, and since when they have it: found once for a
/// statement, not for each of its rows. `now` is the place of the moment that counts (`$2`).
pub(super) fn mine(now: &str) -> String {
    format!(
        "WITH mine AS MATERIALIZED (SELECT subject, person_id AS voice, 0 AS since FROM person_subjects WHERE person_id = $1 \
         UNION ALL SELECT s.subject, s.person_id, g.from_at FROM delegations g JOIN person_subjects s ON s.person_id = g.delegator_id \
         WHERE g.delegate_id = $1 AND {})",
        running(now)
    )
}

/// Whether the delegation `g` runs at this moment.
pub(super) fn running(now: &str) -> String {
    format!(
        "g.ended_at IS NULL AND g.from_at <= {now} AND g.until_at > {now} \
         AND EXISTS (SELECT 1 FROM persons q WHERE q.id = g.delegate_id AND q.disabled_at IS NULL)"
    )
}

/// Everybody's voices, without `since`: `person_id` speaks as `voice`, which is called `subject`.
pub(super) fn voices(now: &str) -> String {
    format!(
        "SELECT person_id, person_id AS voice, subject FROM person_subjects \
         UNION ALL SELECT g.delegate_id, g.delegator_id, s.subject FROM delegations g JOIN person_subjects s ON s.person_id = g.delegator_id \
         WHERE {}",
        running(now)
    )
}

/// Whether one of these may not decide `c`, because the call is theirs.
macro_rules! barred {
    ($who:literal) => {
        concat!("(c.self_approval = 0 AND COALESCE(c.person_id, '') IN (", $who, "))")
    };
}

/// The voices of `$1` that decide `c`, behind [`mine`], with what is joined to them: to be selected from.
macro_rules! voices_of_call {
    ($joined:literal) => {
        concat!(
            "FROM call_approvers ca JOIN mine m ON m.subject = ca.subject ",
            $joined,
            "WHERE ca.call_id = c.id AND NOT ",
            barred!("$1, m.voice")
        )
    };
}

/// Whether the person `$1` may decide `c`, behind [`mine`].
pub(super) const DECIDES: &str = concat!("EXISTS (SELECT 1 ", voices_of_call!(""), ")");

/// By whose voice the person `$1` decides `c`, behind [`mine`]; `NULL`: by none. Their own comes before all, and one that was not
/// used on this call before one that somebody else has used.
pub(super) const VOICE: &str = concat!(
    "(SELECT m.voice ",
    voices_of_call!(
        "LEFT JOIN decisions d ON d.call_id = ca.call_id AND d.voided_at IS NULL AND d.person_id <> $1 AND COALESCE(d.for_id, d.person_id) = m.voice "
    ),
    " ORDER BY CASE WHEN m.voice = $1 THEN 0 WHEN d.id IS NULL THEN 1 ELSE 2 END, m.since, m.voice LIMIT 1)"
);

/// Whether the person `$1` is an operator, behind [`mine`]: they may settle every call. A role is never passed on.
pub(super) const OPERATES: &str =
    "EXISTS (SELECT 1 FROM mine m WHERE m.subject = 'role:operator' AND m.voice = $1)";

/// Whether the person `$1` may override those who decide `c`, behind [`mine`]: an operator or admin who is none of them, and not
/// its owner where the owner is barred. What a person wrote in a form of their own waits for that person alone.
pub(super) const OVERRIDES: &str = concat!(
    "(c.surface <> 'form' AND EXISTS (SELECT 1 FROM mine m WHERE m.subject IN ('role:operator', 'role:admin') AND m.voice = $1) AND NOT EXISTS (SELECT 1 ",
    voices_of_call!(""),
    ") AND NOT ",
    barred!("$1"),
    ")"
);

/// Whether the person `$1` overrode `c`: they may see what became of it.
pub(super) const OVERRODE: &str =
    "EXISTS (SELECT 1 FROM decisions d WHERE d.call_id = c.id AND d.person_id = $1 AND d.kind = 'override')";

/// Those who decide `c` by their own voice, as `s.person_id`: to be selected from. A delegation makes none of them more.
pub(super) const OWN_VOICES: &str = concat!(
    "FROM call_approvers ca JOIN person_subjects s ON s.subject = ca.subject WHERE ca.call_id = c.id AND NOT ",
    barred!("s.person_id")
);

/// Whether what the decision `d` said still counts on its call: the right by which it was said holds at this moment, and it was
/// said with a passkey where the call takes one by now.
pub(super) fn still_holds(now: &str) -> String {
    format!(
        "((d.kind = 'override' AND EXISTS (SELECT 1 FROM person_subjects o WHERE o.person_id = d.person_id AND o.subject IN ('role:operator', 'role:admin'))) \
         OR EXISTS (SELECT 1 FROM calls c JOIN call_approvers ca ON ca.call_id = c.id JOIN person_subjects s ON s.subject = ca.subject \
         WHERE c.id = d.call_id AND (c.step_up = 0 OR d.passkey_id IS NOT NULL) AND s.person_id = COALESCE(d.for_id, d.person_id) \
         AND NOT {} AND (d.for_id IS NULL OR EXISTS \
         (SELECT 1 FROM delegations g WHERE g.delegator_id = d.for_id AND g.delegate_id = d.person_id AND {}))))",
        barred!("d.person_id, s.person_id"),
        running(now)
    )
}

/// Everybody `v` who may decide the call `c` of a decision `d`, and did not make it: to be selected from, before `AND`.
pub(super) fn deciders_of(now: &str) -> String {
    format!(
        "FROM decisions d JOIN calls c ON c.id = d.call_id JOIN call_approvers ca ON ca.call_id = c.id \
         JOIN ({}) v ON v.subject = ca.subject WHERE v.person_id <> d.person_id AND NOT {}",
        voices(now),
        barred!("v.person_id, v.voice")
    )
}

/// Held calls `w` that have waited long enough (`$1`, `$2` is now), each with whom it asks; and, after this, `who` is asked by which name. Both are
/// looked up once: from the few calls that are held, never from everything that somebody could once decide.
const WAITING: &str = "WITH waiting AS MATERIALIZED (SELECT c.id AS id, c.created_at AS created_at, ca.subject AS subject, \
    CASE WHEN c.self_approval = 0 THEN COALESCE(c.person_id, '') ELSE '' END AS barred \
    FROM calls c CROSS JOIN call_approvers ca WHERE ca.call_id = c.id AND c.state = 'held' AND c.created_at <= $1 \
    AND c.expires_at > $2), who AS MATERIALIZED (SELECT person_id, voice, subject FROM (";

/// The start of a question about calls that wait: `narrowed` picks among those who have a voice.
pub(super) fn waiting_for(narrowed: &str) -> String {
    format!("{WAITING}{}) v{narrowed})", voices("$2"))
}

/// The person `s.person_id` may decide the call `w`, and neither they nor the one in whose place they are has said yes already.
pub(super) const ASKED: &str = "FROM waiting w JOIN who s ON s.subject = w.subject WHERE s.person_id <> w.barred AND s.voice <> w.barred \
    AND NOT EXISTS (SELECT 1 FROM decisions d WHERE d.call_id = w.id AND d.voided_at IS NULL \
    AND (d.person_id = s.person_id OR COALESCE(d.for_id, d.person_id) = s.voice))";
