//! Whatever is done to an export is told, by its own word.

use std::sync::LazyLock;

use ledger::export::{Consistency, Extent, Header, Leaf, VERSION};
use ledger::leaf::{self, Kind};
use ledger::note::Signer;
use ledger::{Checkpoint, Frontier, Hash, NoExport, Report, Tree, Word, verify};
use proptest::prelude::*;
use serde_json::json;

/// The true leaves, their newer head as a note, and the older one: signing takes long where nothing is optimised.
static TRUE: LazyLock<(Vec<Leaf>, String, String)> = LazyLock::new(|| {
    let all: Vec<_> = (0..NEW).map(|index| leaf(index, "https://a.example/things")).collect();
    let (new, old) = (signed(&all), signed(&all[..BEGUN]));
    (all, new, old)
});

const OLD: u64 = 21;
const NEW: u64 = 37;

// The same, to count leaves here.
const BEGUN: usize = 21;
const ALL: usize = 37;

fn signer() -> Signer {
    Signer::new("desk.example", &[7; 32]).expect("a name")
}

fn salt(index: u64) -> [u8; 32] {
    let mut salt = [3; 32];
    salt[..8].copy_from_slice(&index.to_be_bytes());
    salt
}

/// The leaf of a receipt, told from others by its URL.
fn leaf(index: u64, url: &str) -> Leaf {
    let content = json!({ "id": format!("rct_{index}"), "url": url, "outcome": "done", "body_size": 12 });
    let record = leaf::record(index, Kind::Receipt, &content);
    let hash = leaf::hash(&salt(index), record.as_bytes());
    Leaf { index, hash, salt: Some(salt(index)), record: Some(record), proof: None }
}

fn leaves() -> Vec<Leaf> {
    TRUE.0.clone()
}

fn root(leaves: &[Leaf]) -> Hash {
    let mut tree = Frontier::new();
    for leaf in leaves {
        tree.push(leaf.hash);
    }
    tree.root()
}

/// The signed head of these leaves.
fn note(leaves: &[Leaf]) -> String {
    let is_true = leaves.iter().zip(&TRUE.0).all(|(one, other)| one.hash == other.hash);
    match leaves.len() as u64 {
        NEW if is_true => TRUE.1.clone(),
        OLD if is_true => TRUE.2.clone(),
        _ => signed(leaves),
    }
}

fn signed(leaves: &[Leaf]) -> String {
    let checkpoint =
        Checkpoint { origin: "desk.example".to_owned(), size: leaves.len() as u64, root: root(leaves) };
    checkpoint.sign(&signer())
}

fn header(extent: Extent, lines: usize, all: &[Leaf]) -> Header {
    Header {
        countersign_ledger: VERSION,
        extent,
        lines: lines as u64,
        key: signer().verifier().to_string(),
        old: Some(note(&all[..BEGUN])),
        new: note(all),
        consistency: Vec::new(),
    }
}

/// An export of lines, with the head of these leaves.
fn export(header: &Header, lines: &[Leaf]) -> String {
    lines.iter().fold(header.line(), |mut text, leaf| {
        leaf.write(&mut text);
        text
    })
}

fn whole(all: &[Leaf], lines: &[Leaf]) -> String {
    export(&header(Extent::Whole, lines.len(), all), lines)
}

/// A selection of the leaves, with their proofs.
fn selection(all: &[Leaf], indexes: &[usize]) -> (Header, Vec<Leaf>) {
    let tree = Tree::of(all.iter().map(|leaf| leaf.hash).collect());
    let mut header = header(Extent::Selection, indexes.len(), all);
    let proof = tree.consistency(BEGUN).expect("not longer");
    header.consistency = vec![Consistency { size: OLD, proof }];
    let lines = indexes.iter().map(|at| Leaf { proof: tree.inclusion(*at), ..all[*at].clone() }).collect();
    (header, lines)
}

/// Judged with the two heads that an auditor kept of the true leaves.
fn judged(export: &str) -> Report {
    let all = leaves();
    let kept = [note(&all[..BEGUN]), note(&all)];
    verify(export.as_bytes(), &signer().verifier(), &kept).expect("an export")
}

fn verdict(export: &str) -> Option<Word> {
    judged(export).verdict()
}

#[test]
fn what_is_whole_and_true_is_found_so() {
    let all = leaves();
    let report = judged(&whole(&all, &all));
    assert_eq!((report.verdict(), report.records, report.leaves), (None, NEW, NEW), "{report:?}");
    assert_eq!(report.confirmed, [OLD, NEW]);
    let (header, lines) = selection(&all, &[0, 5, 20, 36]);
    let report = judged(&export(&header, &lines));
    assert_eq!((report.verdict(), report.records, report.confirmed.as_slice()), (None, 4, &[OLD, NEW][..]));
    let empty = export(&Header { old: None, new: note(&[]), lines: 0, ..header }, &[]);
    let report = verify(empty.as_bytes(), &signer().verifier(), &[]).expect("an export");
    assert_eq!((report.verdict(), report.size), (None, 0), "{report:?}");
}

#[test]
fn a_record_that_was_written_anew_and_says_the_same_is_the_same() {
    let all = leaves();
    let text = whole(&all, &all).replace(r#""form":1,"index":5,"#, r#" "index": 5, "form" : 1.0 , "#);
    assert_ne!(text, whole(&all, &all));
    assert_eq!(verdict(&text), None);
}

#[test]
fn what_retention_erased_is_told_and_is_still_committed_to() {
    let all = leaves();
    let mut lines = all.clone();
    for at in [3, 30] {
        (lines[at].salt, lines[at].record) = (None, None);
    }
    let report = judged(&whole(&all, &lines));
    assert_eq!((report.verdict(), report.pruned, report.records), (Some(Word::Pruned), 2, NEW - 2));
    assert_eq!((report.confirmed.as_slice(), report.findings.len()), (&[OLD, NEW][..], 0));
    lines[3].hash = Hash([0; 32]);
    assert_eq!(verdict(&whole(&all, &lines)), Some(Word::Altered), "erased and altered");
}

#[test]
fn a_record_that_is_gone_without_its_salt_is_missing() {
    let all = leaves();
    let mut lines = all.clone();
    lines[9].record = None;
    let report = judged(&whole(&all, &lines));
    assert_eq!((report.verdict(), report.findings[0].index), (Some(Word::Missing), Some(9)));
}

#[test]
fn another_history_of_the_same_key_is_a_fork() {
    let all = leaves();
    let mut other = all.clone();
    other[4] = leaf(4, "https://b.example/");
    // The desk signs it and shows it to somebody else.
    let mut forged = header(Extent::Whole, other.len(), &other);
    assert_eq!(verdict(&export(&forged, &other)), Some(Word::Forked));
    // It signs an older head of it too, and tells of another size.
    let mut longer = other.clone();
    longer.push(leaf(NEW, "https://a.example/"));
    forged = Header { new: note(&longer), lines: longer.len() as u64, ..forged };
    assert_eq!(verdict(&export(&forged, &longer)), Some(Word::Forked));
    let (mut forged, lines) = selection(&longer, &[4, 5]);
    let tree = Tree::of(longer.iter().map(|leaf| leaf.hash).collect());
    forged.consistency.push(Consistency { size: NEW, proof: tree.consistency(ALL).expect("not longer") });
    assert_eq!(verdict(&export(&forged, &lines)), Some(Word::Forked));
}

#[test]
fn a_tree_that_was_cut_is_missing_its_end() {
    let all = leaves();
    let cut = &all[..30];
    let header = Header { new: note(cut), ..header(Extent::Whole, 30, &all) };
    let report = judged(&export(&header, cut));
    assert_eq!(
        (report.verdict(), report.confirmed.as_slice()),
        (Some(Word::Missing), &[OLD, 30][..]),
        "{report:?}"
    );
}

#[test]
fn only_the_signature_of_the_key_counts() {
    let all = leaves();
    let text = whole(&all, &all);
    let other = Signer::new("desk.example", &[8; 32]).expect("a name").verifier();
    let report = verify(text.as_bytes(), &other, &[]).expect("an export");
    assert_eq!((report.verdict(), report.records), (Some(Word::BadSignature), 0));
    let stranger = Signer::new("desk.example", &[8; 32]).expect("a name");
    let head = Checkpoint { origin: "desk.example".to_owned(), size: NEW, root: root(&all) };
    let forged = Header { new: head.sign(&stranger), ..header(Extent::Whole, all.len(), &all) };
    assert_eq!(verdict(&export(&forged, &all)), Some(Word::BadSignature));
    let kept = [note(&all).replacen("\n37\n", "\n36\n", 1)];
    let report = verify(text.as_bytes(), &signer().verifier(), &kept).expect("an export");
    assert_eq!(report.verdict(), Some(Word::BadSignature));
}

#[test]
fn what_cannot_be_judged_is_no_finding() {
    let all = leaves();
    let key = signer().verifier();
    for no in ["", "\n", "{}\n", "{\"id\":\"rct_1\"}\n"] {
        assert!(matches!(verify(no.as_bytes(), &key, &[]), Err(NoExport::NoHeader)), "{no:?}");
    }
    let later = Header { countersign_ledger: 2, ..header(Extent::Whole, 0, &all) };
    assert!(matches!(verify(later.line().as_bytes(), &key, &[]), Err(NoExport::OtherVersion(2))));
    let (header, lines) = selection(&all, &[2]);
    let unproven = verify(export(&header, &lines).as_bytes(), &key, &[note(&all[..10])]);
    assert!(matches!(unproven, Err(NoExport::NoProof(10))), "{unproven:?}");
}

#[test]
fn each_word_ends_a_command_in_its_own_way() {
    let mut codes: Vec<u8> = Word::ALL.iter().map(|word| word.exit_code()).collect();
    codes.extend([0, 1, 2]);
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), 9);
}

/// A change of an export by somebody without the key.
#[derive(Debug, Clone)]
enum Tamper {
    Edit(usize),
    EditAndHash(usize),
    Salt(usize),
    Drop(usize),
    Cut(usize),
    DropAndNumber(usize),
    Swap(usize, usize),
    SwapAndNumber(usize, usize),
    Repeat(usize),
    Number(usize, u64),
    Insert(usize),
    Erase(usize),
    Garble(usize),
}

fn tamper(count: usize) -> impl Strategy<Value = Tamper> {
    let at = 0..count;
    let two = (0..count, 1..count).prop_map(move |(at, on)| (at, (at + on) % count));
    prop_oneof![
        at.clone().prop_map(Tamper::Edit),
        at.clone().prop_map(Tamper::EditAndHash),
        at.clone().prop_map(Tamper::Salt),
        at.clone().prop_map(Tamper::Drop),
        at.clone().prop_map(Tamper::Cut),
        at.clone().prop_map(Tamper::DropAndNumber),
        two.clone().prop_map(|(one, other)| Tamper::Swap(one, other)),
        two.prop_map(|(one, other)| Tamper::SwapAndNumber(one, other)),
        at.clone().prop_map(Tamper::Repeat),
        (at.clone(), 0..NEW).prop_map(|(at, number)| Tamper::Number(at, number)),
        at.clone().prop_map(Tamper::Insert),
        at.clone().prop_map(Tamper::Erase),
        at.prop_map(Tamper::Garble),
    ]
}

impl Tamper {
    /// What it has to be called. `None`: it changed nothing.
    fn word(&self, lines: &[Leaf]) -> Option<Word> {
        match self {
            Self::Edit(_) | Self::EditAndHash(_) | Self::Salt(_) | Self::Insert(_) | Self::Garble(_) => {
                Some(Word::Altered)
            }
            Self::Drop(_) | Self::Cut(_) | Self::DropAndNumber(_) | Self::Erase(_) => Some(Word::Missing),
            Self::Swap(..) | Self::SwapAndNumber(..) | Self::Repeat(_) => Some(Word::Reordered),
            Self::Number(at, number) => (lines[*at].index != *number).then_some(Word::Reordered),
        }
    }

    fn done(&self, lines: &mut Vec<Leaf>) {
        match *self {
            Self::Edit(at) => {
                lines[at].record =
                    lines[at].record.take().map(|record| record.replace("a.example", "b.example"));
            }
            Self::EditAndHash(at) => {
                lines[at] =
                    Leaf { proof: lines[at].proof.clone(), ..leaf(lines[at].index, "https://b.example/") };
            }
            Self::Salt(at) => lines[at].salt = Some([0; 32]),
            Self::Drop(at) => {
                lines.remove(at);
            }
            Self::Cut(at) => lines.truncate(at),
            Self::DropAndNumber(at) => {
                let gone = lines.remove(at);
                let mut next = gone.index;
                for line in &mut lines[at..] {
                    std::mem::swap(&mut line.index, &mut next);
                }
            }
            Self::Swap(one, other) => lines.swap(one, other),
            Self::SwapAndNumber(one, other) => {
                lines.swap(one, other);
                let (first, second) = (lines[one].index, lines[other].index);
                (lines[one].index, lines[other].index) = (second, first);
            }
            Self::Repeat(at) => {
                let again = lines[at].clone();
                lines.insert(at, again);
            }
            Self::Number(at, number) => lines[at].index = number,
            Self::Insert(at) => {
                let more =
                    Leaf { proof: lines[at].proof.clone(), ..leaf(lines[at].index, "https://b.example/") };
                lines.insert(at, more);
            }
            Self::Erase(at) => lines[at].record = None,
            Self::Garble(at) => lines[at].record = Some("{".to_owned()),
        }
    }
}

proptest! {
    #[test]
    fn any_change_of_a_whole_export_is_told_by_its_word(tamper in tamper(ALL)) {
        let all = leaves();
        let mut lines = all.clone();
        let word = tamper.word(&lines);
        tamper.done(&mut lines);
        let report = judged(&whole(&all, &lines));
        prop_assert_eq!(report.verdict(), word, "{:?}: {:?}", tamper, report);
    }

    #[test]
    fn any_change_of_a_selection_is_told_by_its_word(tamper in tamper(9)) {
        let all = leaves();
        let (header, mut lines) = selection(&all, &[0, 1, 4, 9, 16, 20, 21, 30, 36]);
        let word = tamper.word(&lines);
        tamper.done(&mut lines);
        let header = if matches!(tamper, Tamper::Repeat(_) | Tamper::Insert(_)) {
            Header { lines: 10, ..header }
        } else {
            header
        };
        let report = judged(&export(&header, &lines));
        prop_assert_eq!(report.verdict(), word, "{:?}", tamper);
    }

    #[test]
    fn no_single_byte_can_be_another_unseen(at in 0_usize..1 << 20, byte in any::<u8>()) {
        let all = leaves();
        let text = whole(&all, &all).into_bytes();
        let mut other = text.clone();
        let at = at % other.len();
        other[at] = byte;
        prop_assume!(other[at] != text[at]);
        let kept = [note(&all[..BEGUN]), note(&all)];
        let told = verify(other.as_slice(), &signer().verifier(), &kept);
        // What says the same in other bytes is the same, and how many lines follow is told by the tree.
        let header = text.iter().position(|byte| *byte == b'\n').expect("a line");
        let is_count = at < header && text[at].is_ascii_digit();
        let unseen = told.as_ref().is_ok_and(|report| report.verdict().is_none());
        prop_assert!(!unseen || is_count || says_the_same(&text, &other), "{at}: {:?}", text[at] as char);
    }
}

/// Whether each line is the same JSON.
fn says_the_same(one: &[u8], other: &[u8]) -> bool {
    let read = |text: &[u8]| -> Option<Vec<serde_json::Value>> {
        text.split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).ok())
            .collect()
    };
    read(one) == read(other)
}
