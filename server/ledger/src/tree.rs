//! The tree (RFC 9162, section 2.1).
//!
//! `ct-merkle` checks the proofs. It keeps every leaf to make them, and cannot go on from a head: what makes heads and
//! proofs is here, and its tests let `ct-merkle` judge it.

use ct_merkle::{ConsistencyProof, RootHash};
use sha2::Sha256;

use crate::hash::Hash;

/// The largest tree there is, in leaves: far more than there can be, and far from where numbers end.
pub(crate) const LARGEST: u64 = 1 << 48;

/// A tree that grows at its end, of which only the peaks are kept: the heads of the largest whole subtrees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    peaks: Vec<Hash>,
}

impl Frontier {
    /// A tree without a leaf.
    pub fn new() -> Self {
        Self::default()
    }

    /// A tree of this size by its peaks, the leftmost first. `None`: it has another number of them.
    pub fn of(size: u64, peaks: Vec<Hash>) -> Option<Self> {
        (usize::try_from(size.count_ones()) == Ok(peaks.len())).then_some(Self { size, peaks })
    }

    /// How many leaves it has.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Its peaks, the leftmost first: one for each bit of the size.
    pub fn peaks(&self) -> &[Hash] {
        &self.peaks
    }

    /// Puts a leaf at the end.
    pub fn push(&mut self, leaf: Hash) {
        let mut head = leaf;
        for _ in 0..self.size.trailing_ones() {
            let left = self.peaks.pop().unwrap_or(head);
            head = Hash::of_node(left, head);
        }
        self.peaks.push(head);
        self.size += 1;
    }

    /// The head of the whole tree.
    pub fn root(&self) -> Hash {
        let folded = self.peaks.iter().rev().copied().reduce(|right, left| Hash::of_node(left, right));
        folded.unwrap_or_else(Hash::of_nothing)
    }
}

/// A tree whose every node is kept, to make proofs of.
#[derive(Debug, Clone)]
pub struct Tree {
    /// The heads of whole subtrees: of one leaf, of two, of four, …
    levels: Vec<Vec<Hash>>,
}

impl Tree {
    /// Of these leaves.
    pub fn of(leaves: Vec<Hash>) -> Self {
        let mut levels = vec![leaves];
        while let Some(last) = levels.last().filter(|last| last.len() > 1) {
            let above = last.chunks_exact(2).map(|two| Hash::of_node(two[0], two[1])).collect();
            levels.push(above);
        }
        Self { levels }
    }

    /// How many leaves it has.
    pub fn size(&self) -> usize {
        self.levels[0].len()
    }

    /// The head of its first leaves; `None`: it has not so many.
    pub fn root(&self, size: usize) -> Option<Hash> {
        match size {
            0 => Some(Hash::of_nothing()),
            _ if size <= self.size() => Some(self.head(0, size)),
            _ => None,
        }
    }

    /// The proof that this leaf is in the tree (RFC 9162, section 2.1.3.1); `None`: it is not.
    pub fn inclusion(&self, index: usize) -> Option<Vec<Hash>> {
        if index >= self.size() {
            return None;
        }
        let (mut begin, mut end, mut path) = (0, self.size(), Vec::new());
        while end - begin > 1 {
            let middle = begin + half(end - begin);
            if index < middle {
                path.push(self.head(middle, end));
                end = middle;
            } else {
                path.push(self.head(begin, middle));
                begin = middle;
            }
        }
        path.reverse();
        Some(path)
    }

    /// The proof that the tree began as its first leaves (RFC 9162, section 2.1.4.1); `None`: it has not so many. Of no
    /// leaves, and of all of them, nothing has to be proven.
    pub fn consistency(&self, old: usize) -> Option<Vec<Hash>> {
        if old > self.size() {
            return None;
        }
        if old == 0 || old == self.size() {
            return Some(Vec::new());
        }
        let (mut begin, mut end, mut is_known, mut path) = (0, self.size(), true, Vec::new());
        while old != end {
            let middle = begin + half(end - begin);
            if old <= middle {
                path.push(self.head(middle, end));
                end = middle;
            } else {
                path.push(self.head(begin, middle));
                begin = middle;
                is_known = false;
            }
        }
        if !is_known {
            path.push(self.head(begin, end));
        }
        path.reverse();
        Some(path)
    }

    /// The head of the leaves from `begin` on, before `end`.
    fn head(&self, begin: usize, end: usize) -> Hash {
        let count = end - begin;
        if count.is_power_of_two() && begin.is_multiple_of(count) {
            let level = count.trailing_zeros();
            return self.levels[level as usize][begin >> level];
        }
        let middle = begin + half(count);
        Hash::of_node(self.head(begin, middle), self.head(middle, end))
    }
}

/// The largest power of two that is less than this count, which is at least 2.
fn half(count: usize) -> usize {
    count.next_power_of_two() >> 1
}

/// Whether the proof shows that the tree with the one size and head began as the other.
pub fn is_consistent(old: (u64, Hash), new: (u64, Hash), proof: &[Hash]) -> bool {
    if old.0 > new.0 || new.0 > LARGEST {
        return false;
    }
    if old.0 == 0 {
        return old.1 == Hash::of_nothing() && proof.is_empty();
    }
    let digests: Vec<_> = proof.iter().map(|hash| hash.0.into()).collect();
    let proof = ConsistencyProof::<Sha256>::from_digests(&digests);
    head(new).verify_consistency(&head(old), &proof).is_ok() && (old.0 != new.0 || old.1 == new.1)
}

pub(crate) fn head((size, root): (u64, Hash)) -> RootHash<Sha256> {
    RootHash::new(root.0.into(), size)
}

#[cfg(test)]
mod tests {
    use ct_merkle::mem_backed_tree::MemoryBackedTree;

    use super::*;

    /// The leaves of the published test vectors of RFC 6962's tree, as hexadecimal.
    const LEAVES: [&str; 8] =
        ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];

    /// The heads of the trees of the first one, two, … of them.
    const ROOTS: [&str; 8] = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex")).collect()
    }

    fn hash(hex: &str) -> Hash {
        Hash(bytes(hex).try_into().expect("32 bytes"))
    }

    fn published() -> Tree {
        Tree::of(LEAVES.iter().map(|leaf| Hash::of_leaf(&[&bytes(leaf)])).collect())
    }

    #[test]
    fn heads_are_those_that_were_published() {
        let (tree, mut frontier) = (published(), Frontier::new());
        assert_eq!(frontier.root(), hash("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
        for (at, root) in ROOTS.iter().enumerate() {
            frontier.push(Hash::of_leaf(&[&bytes(LEAVES[at])]));
            assert_eq!((frontier.root(), tree.root(at + 1)), (hash(root), Some(hash(root))), "{at}");
        }
    }

    #[test]
    fn proofs_are_those_that_were_published() {
        let all = |hex: &[&str]| hex.iter().map(|one| hash(one)).collect::<Vec<_>>();
        let first = all(&[
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ]);
        assert_eq!(published().inclusion(0), Some(first));
        let old_six = all(&[
            "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ]);
        assert_eq!(published().consistency(6), Some(old_six));
    }

    #[test]
    fn another_implementation_agrees_on_every_head_and_proof() {
        let mut theirs = MemoryBackedTree::<Sha256, Vec<u8>>::new();
        let (mut ours, mut leaves) = (Frontier::new(), Vec::new());
        for size in 1..70_usize {
            let content = format!("leaf {size}").into_bytes();
            leaves.push(Hash::of_leaf(&[&content]));
            ours.push(leaves[size - 1]);
            theirs.push(content);
            let tree = Tree::of(leaves.clone());
            assert_eq!(ours.root().0, <[u8; 32]>::from(*theirs.root().as_bytes()), "{size}");
            let joined = |proof: Vec<Hash>| proof.iter().flat_map(|hash| hash.0).collect::<Vec<_>>();
            for old in 0..size {
                let inclusion = joined(tree.inclusion(old).expect("in it"));
                assert_eq!(inclusion, theirs.prove_inclusion(old).as_bytes(), "{old} in {size}");
                let proof = tree.consistency(old).expect("not longer");
                if old > 0 {
                    assert_eq!(
                        joined(proof.clone()),
                        theirs.prove_consistency(size - old).as_bytes(),
                        "{old} to {size}"
                    );
                }
                let begun = (old as u64, tree.root(old).expect("not longer"));
                assert!(is_consistent(begun, (size as u64, ours.root()), &proof), "{old} to {size}");
                assert!(
                    !is_consistent((begun.0, Hash([7; 32])), (size as u64, ours.root()), &proof),
                    "{old} to {size}"
                );
            }
            assert_eq!(Frontier::of(size as u64, ours.peaks().to_vec()).as_ref(), Some(&ours));
        }
        assert_eq!(Frontier::of(3, vec![Hash([0; 32])]), None);
    }

    #[test]
    fn a_tree_is_itself_and_no_other_of_its_size() {
        let same = (5, Hash([1; 32]));
        assert!(is_consistent(same, same, &[]));
        assert!(!is_consistent((5, Hash([2; 32])), same, &[]));
        assert!(!is_consistent((6, Hash([1; 32])), same, &[]), "a tree never shrinks");
        assert!(!is_consistent((0, Hash([1; 32])), same, &[]));
    }
}
