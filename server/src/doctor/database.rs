//! The database: whether it is there, keeps what it acknowledges, and has this version's schema.

use std::path::Path;

use engine::catalogue::Catalogue;
use engine::store::{Inspection, Schema};
use model::Time;

use super::Finding;
use crate::config::{Config, Environment};

const SUBJECT: &str = "database";
const CLOCK: &str = "clock";

/// By how many seconds two clocks may differ before somebody should know. Leases are told by them.
const APART: u64 = 2;

/// Less room than this is soon none, in bytes.
const LITTLE_ROOM: u64 = 512 * 1024 * 1024;

/// What was found, and whether the database has this version's schema.
pub(super) async fn examine(
    config: &Config,
    catalogue: &Catalogue,
    environment: &Environment,
) -> (Vec<Finding>, bool) {
    let seen = match Inspection::of(&environment.database(catalogue), config.folder()).await {
        Ok(Some(seen)) => seen,
        Ok(None) => {
            let next = "Nothing: `serve` makes it. When there should be one, look at `database_url` and DATABASE_URL.";
            return (vec![Finding::mind(SUBJECT, "there is none yet at this address.", next)], false);
        }
        Err(error) => {
            let next = "Look at the database server, its rights, and `database_url` or DATABASE_URL.";
            return (vec![Finding::bad(SUBJECT, format!("it cannot be used: {error}."), next)], false);
        }
    };
    let mut findings = vec![schema(seen.schema)];
    findings.extend(seen.lossy.iter().map(|(name, value)| {
        let found =
            format!("{name} is {value}: a crash may lose a receipt of what was sent, or send it again.");
        Finding::bad(SUBJECT, found, "Switch it on in postgresql.conf and restart PostgreSQL.")
    }));
    findings.extend(clock(&seen, engine::ambient::Ambient::system().now()));
    if let Some(file) = &seen.file {
        findings.extend(rights(file));
        findings.extend(room(file));
    }
    (findings, seen.schema == Schema::Current)
}

fn schema(schema: Schema) -> Finding {
    match schema {
        Schema::Current => Finding::good(SUBJECT, "it is durable, and has this version's schema."),
        Schema::Behind(missing) => Finding::mind(
            SUBJECT,
            format!("it lacks {missing} migrations of this version."),
            "Make a backup; then `serve` or `migrate` applies them.",
        ),
        Schema::Ahead(strange) => Finding::bad(
            SUBJECT,
            format!("a later version has changed it, by {strange} migrations."),
            "Run that version: this one does not start on it.",
        ),
    }
}

/// Whether time goes on as the database knows it.
fn clock(seen: &Inspection, now: Time) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(theirs) = seen.clock {
        let apart = theirs.seconds_since(now).unsigned_abs();
        findings.push(if apart > APART {
            let found = format!("the database's clock and this machine's are {apart} s apart.");
            Finding::bad(CLOCK, found, "Let every node take its time from NTP: leases are told by the clock.")
        } else {
            Finding::good(CLOCK, "it agrees with the database's.")
        });
    }
    let ahead = seen.newest.map_or(0, |newest| newest.seconds_since(now));
    if ahead > i64::try_from(APART).unwrap_or(i64::MAX) {
        let found =
            format!("the newest line of the journal is {ahead} s in the future: the clock was put back.");
        findings.push(Finding::bad(CLOCK, found, "Set the clock right: leases and expiries are told by it."));
    } else if seen.clock.is_none() {
        findings.push(Finding::good(CLOCK, "it is not behind the journal."));
    }
    findings
}

/// Whether others can read the file. What is held is sealed in it; receipts and names are not.
#[cfg(unix)]
fn rights(file: &Path) -> Option<Finding> {
    use std::os::unix::fs::PermissionsExt;
    let rights = std::fs::metadata(file).ok()?.permissions().mode() & 0o777;
    (rights & 0o077 != 0).then(|| {
        let found =
            format!("{} can be read by others on this machine (rights {rights:03o}).", file.display());
        Finding::mind(SUBJECT, found, "Give it owner-only rights (chmod 600), and the files beside it.")
    })
}

#[cfg(not(unix))]
fn rights(_file: &Path) -> Option<Finding> {
    None
}

/// How much room is left where the file stands.
#[cfg(unix)]
fn room(file: &Path) -> Option<Finding> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let disk = rustix::fs::statvfs(folder).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    (free < LITTLE_ROOM).then(|| {
        let found =
            format!("{} MiB are left on its disk. Without room nothing is sent any more.", free / 1_048_576);
        Finding::bad("disk", found, "Make room, or set `receipt_retention_days`.")
    })
}

#[cfg(not(unix))]
fn room(_file: &Path) -> Option<Finding> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Verdict;

    fn seen(clock: Option<i64>, newest: Option<i64>) -> Vec<Verdict> {
        let at = |seconds: i64| Time::from_micros(seconds * 1_000_000);
        let seen = Inspection {
            file: None,
            schema: Schema::Current,
            lossy: Vec::new(),
            clock: clock.map(at),
            newest: newest.map(at),
        };
        clock_of(&seen)
    }

    fn clock_of(seen: &Inspection) -> Vec<Verdict> {
        clock(seen, Time::from_micros(1_000_000_000)).into_iter().map(|finding| finding.verdict).collect()
    }

    #[test]
    fn a_clock_that_lies_is_told() {
        assert_eq!(seen(None, None), [Verdict::Good]);
        assert_eq!(seen(None, Some(990)), [Verdict::Good]);
        assert_eq!(seen(None, Some(1_060)), [Verdict::Bad], "it was put back");
        assert_eq!(seen(Some(1_001), Some(990)), [Verdict::Good]);
        assert_eq!(seen(Some(1_010), None), [Verdict::Bad]);
        assert_eq!(seen(Some(990), Some(1_060)), [Verdict::Bad, Verdict::Bad]);
    }

    #[test]
    fn a_later_schema_is_bad_and_an_earlier_one_is_not() {
        assert_eq!(schema(Schema::Current).verdict, Verdict::Good);
        assert_eq!(schema(Schema::Behind(2)).verdict, Verdict::Mind);
        assert_eq!(schema(Schema::Ahead(1)).verdict, Verdict::Bad);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_read_is_told() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("desk.db");
        std::fs::write(&file, "").expect("written");
        for (rights_of_file, told) in [(0o600, false), (0o640, true), (0o604, true)] {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(rights_of_file)).expect("set");
            assert_eq!(rights(&file).is_some(), told, "{rights_of_file:o}");
        }
    }
}
