//! How long a million leaves take to verify, and how much memory: beside the time that hashing the same bytes takes.
//!
//! `cargo bench -p ledger`; `LEAVES=N` for another number of them.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read as _, Seek as _, Write as _};
use std::time::Instant;

use ledger::export::{Extent, Header, Leaf, VERSION};
use ledger::leaf::{self, Kind};
use ledger::note::Signer;
use ledger::{Checkpoint, Frontier, verify};
use serde_json::json;
use sha2::{Digest as _, Sha256};

fn main() {
    let count = std::env::var("LEAVES").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000_u64);
    let signer = Signer::new("desk.example", &[1; 32]).expect("a name");
    let half = head(count / 2, &signer);
    let (mut file, whole, bytes) = written(count, &half, &signer);
    println!("{count} leaves, {} MB", bytes / 1_000_000);

    file.rewind().expect("rewound");
    let begun = Instant::now();
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    while let Ok(read @ 1..) = file.read(&mut buffer) {
        hasher.update(&buffer[..read]);
    }
    std::hint::black_box(hasher.finalize());
    let yardstick = begun.elapsed();
    println!("SHA-256 of the same bytes: {yardstick:.2?}");

    file.rewind().expect("rewound");
    let begun = Instant::now();
    let reader = BufReader::with_capacity(1 << 20, &file);
    let report = verify(reader, &signer.verifier(), &[half, whole]).expect("an export");
    let took = begun.elapsed();
    assert_eq!((report.verdict(), report.records), (None, count), "{report:?}");
    println!("verified: {took:.2?}, {:.1} times as long", took.as_secs_f64() / yardstick.as_secs_f64());
    println!("memory at its peak: {}", peak());
}

fn one(index: u64) -> Leaf {
    let id = format!("{index:026}");
    let content = json!({
        "id": format!("rct_{id}"), "call_id": format!("call_{id}"), "at": "2026-11-30T09:30:00.123456Z",
        "person_id": format!("per_{id}"), "agent_id": format!("agt_{id}"), "session": format!("key_{id}"),
        "credential": "mail", "action": "send_mail", "surface": "mcp", "method": "POST",
        "url": "https://api.mail.example/v1/messages", "host": "api.mail.example", "body_size": 1200 + index % 800,
        "body_sha256": format!("{index:064x}"), "upstream_status": 200, "outcome": "done",
        "approval": { "id": format!("apr_{id}"), "kind": "person", "by": [format!("per_{id}")], "for": [null],
            "reason": null, "at": "2026-11-30T09:29:59.123456Z" },
    });
    let record = leaf::record(index, Kind::Receipt, &content);
    let salt = Sha256::digest(index.to_be_bytes()).into();
    let hash = leaf::hash(&salt, record.as_bytes());
    Leaf { index, hash, salt: Some(salt), record: Some(record), proof: None }
}

fn head(count: u64, signer: &Signer) -> String {
    let mut tree = Frontier::new();
    for index in 0..count {
        tree.push(one(index).hash);
    }
    Checkpoint { origin: "desk.example".to_owned(), size: count, root: tree.root() }.sign(signer)
}

/// The file, its newer checkpoint, and how large it is.
fn written(count: u64, old: &str, signer: &Signer) -> (File, String, u64) {
    let new = head(count, signer);
    let header = Header {
        countersign_ledger: VERSION,
        extent: Extent::Whole,
        lines: count,
        key: signer.verifier().to_string(),
        old: Some(old.to_owned()),
        new: new.clone(),
        consistency: Vec::new(),
    };
    let mut out = BufWriter::new(tempfile::tempfile().expect("a file"));
    let mut text = header.line();
    for index in 0..count {
        one(index).write(&mut text);
        out.write_all(text.as_bytes()).expect("written");
        text.clear();
    }
    let file = out.into_inner().expect("written");
    let bytes = file.metadata().expect("a file").len();
    (file, new, bytes)
}

/// Where the system tells it.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "not told by this system".to_owned(), |line| line.trim().to_owned())
}
