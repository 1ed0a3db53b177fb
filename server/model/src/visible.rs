//! Hostile text made visible: what hides, reorders or imitates is cut out of a text and named.
//!
//! What is sent is never altered; this is for showing only. Every character of the text is either in a plain piece or
//! named by a chip, so a reader sees that something is there even when a screen would draw nothing.
//!
//! Sources: Unicode Technical Report 36 and Technical Standard 39 (security), the property `Default_Ignorable_Code_Point`
//! of the Unicode character database, and the bidi controls of Standard Annex 9.

use std::fmt::Write as _;

/// A part of a text as it may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Shown as it is.
    Plain(&'a str),
    /// Shown as a label that stands out from the text.
    Chip(Chip<'a>),
}

/// Something in a text that would hide or deceive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chip<'a> {
    /// The letter itself, where it can be shown beside the label without harm.
    pub shown: Option<&'a str>,
    /// What it is, in words.
    pub label: String,
}

/// Where a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A title, a value, a header: a line break there is a trick.
    Line,
    /// A body: line breaks and tabs are part of it.
    Body,
}

/// Blanks in a row within a line, before their number is written instead.
const BLANKS: usize = 10;
/// Blanks in a row at the start of a line of a body. Deeper than `indent` ever goes.
const INDENT: usize = 40;
/// Line breaks in a row in a body.
const BREAKS: usize = 4;
/// Marks stacked on one letter. Written languages need at most three.
const MARKS: usize = 3;

/// Cuts a text into what may be shown as it is and chips for everything that hides or deceives.
pub fn visible(text: &str, place: Place) -> Vec<Piece<'_>> {
    let mut cut = Cut { text, place, from: 0, pieces: Vec::new() };
    let mut at = 0;
    let mut before = None;
    while let Some(c) = text[at..].chars().next() {
        let taken = cut.blanks(at).or_else(|| cut.run(at, c, before)).or_else(|| cut.word(at, c));
        let next = at + taken.unwrap_or(c.len_utf8()).max(1);
        before = text[..next].chars().next_back();
        at = next;
    }
    cut.plain_until(text.len());
    cut.pieces
}

/// The same as one text, each chip in ⟦brackets⟧: for mails, logs and the command line.
pub fn visible_text(text: &str, place: Place) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in visible(text, place) {
        match piece {
            Piece::Plain(plain) => out.push_str(plain),
            Piece::Chip(Chip { shown, label }) => {
                out.push_str(shown.unwrap_or_default());
                let _ = write!(out, "⟦{label}⟧");
            }
        }
    }
    out
}

/// Whether something in a text cannot be seen, or hides, moves or covers what stands beside it. A letter of another script
/// is seen, so it is none of this.
pub fn hides(text: &str, place: Place) -> bool {
    visible(text, place).iter().any(|piece| matches!(piece, Piece::Chip(Chip { shown: None, .. })))
}

/// Words of warning when a host is not written in plain ASCII letters, or only stands for one that is not.
pub fn host_hint(host: &str) -> Option<&'static str> {
    if !host.is_ascii() {
        Some("This host has letters outside plain ASCII. It may only look like one you know.")
    } else if host
        .split('.')
        .any(|label| label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--")))
    {
        Some("This host stands for letters outside plain ASCII (xn--). It may only look like one you know.")
    } else {
        None
    }
}

/// A text on its way into pieces.
struct Cut<'a> {
    text: &'a str,
    place: Place,
    /// Where the plain text that is not yet a piece begins.
    from: usize,
    pieces: Vec<Piece<'a>>,
}

impl Cut<'_> {
    fn plain_until(&mut self, end: usize) {
        if self.from < end {
            self.pieces.push(Piece::Plain(&self.text[self.from..end]));
        }
        self.from = end;
    }

    /// Puts a chip in the place of the next `len` bytes, and says how many that were.
    fn chip(&mut self, at: usize, len: usize, shown: bool, label: String) -> usize {
        self.plain_until(at);
        let shown = shown.then_some(&self.text[at..at + len]);
        self.pieces.push(Piece::Chip(Chip { shown, label }));
        self.from = at + len;
        len
    }

    /// Spaces, tabs and, in a body, line breaks: as they are while they are few, else their number.
    fn blanks(&mut self, at: usize) -> Option<usize> {
        let rest = &self.text[at..];
        let len = self.blank_len(rest);
        if len == 0 {
            return None;
        }
        let run = &rest[..len];
        let breaks = run.matches('\n').count();
        let last_line = run.rsplit('\n').next().unwrap_or(run);
        let starts_line = breaks > 0 || at == 0 || self.text[..at].ends_with('\n');
        let limit = if starts_line && self.place == Place::Body { INDENT } else { BLANKS };
        let widest_inner =
            if breaks == 0 { 0 } else { run.split('\n').rev().skip(1).map(str::len).max().unwrap_or(0) };
        if breaks <= BREAKS && last_line.len() <= limit && widest_inner <= BLANKS + 1 {
            return Some(len);
        }
        Some(self.chip(at, len, false, blank_label(run, breaks)))
    }

    /// How many bytes of plain blanks stand here.
    fn blank_len(&self, rest: &str) -> usize {
        let mut len = 0;
        while let Some(&byte) = rest.as_bytes().get(len) {
            let is_blank = match (byte, self.place) {
                (b' ', _) | (b'\t' | b'\n', Place::Body) => true,
                (b'\r', Place::Body) => rest.as_bytes().get(len + 1) == Some(&b'\n'),
                _ => false,
            };
            if !is_blank {
                break;
            }
            len += 1;
        }
        len
    }

    /// One hidden character, or a run of hidden ones of the same kind.
    fn run(&mut self, at: usize, c: char, before: Option<char>) -> Option<usize> {
        let rest = &self.text[at..];
        if is_mark(c) {
            let marks = rest.chars().take_while(|&c| is_mark(c)).count();
            let len: usize = rest.chars().take(marks).map(char::len_utf8).sum();
            let alone = before.is_none_or(|c| c.is_whitespace() || c.is_control());
            if marks <= MARKS && !alone && !rest.chars().take(marks).any(is_overlay) {
                return Some(len);
            }
            return Some(self.chip(
                at,
                len,
                false,
                format!("{marks} stacked {}", plural(marks, "mark", "marks")),
            ));
        }
        if c == FLAG {
            return flag_len(rest);
        }
        let hidden = hidden(c)?;
        if let Hidden::Joiner | Hidden::Selector = hidden
            && fits_emoji(c, before, rest[c.len_utf8()..].chars().next())
        {
            return Some(c.len_utf8());
        }
        let run: Vec<char> = rest.chars().take_while(|&next| hidden.runs_on(c, next)).collect();
        let len = run.iter().map(|c| c.len_utf8()).sum();
        Some(self.chip(at, len, false, hidden.label(&run)))
    }

    /// A letter of another script in a word that otherwise looks Latin.
    fn word(&mut self, at: usize, c: char) -> Option<usize> {
        if !c.is_alphabetic() {
            return None;
        }
        let rest = &self.text[at..];
        let len = rest
            .find(|c: char| !c.is_alphabetic() || hidden(c).is_some() || is_mark(c))
            .unwrap_or(rest.len());
        let word = &rest[..len];
        if word.is_ascii() || !word.chars().any(is_latin) || !word.chars().any(|c| look_alike(c).is_some()) {
            return Some(len);
        }
        for (offset, letter) in word.char_indices() {
            if let Some(script) = look_alike(letter) {
                self.chip(at + offset, letter.len_utf8(), true, format!("{} {script}", code(letter)));
            }
        }
        Some(len)
    }
}

fn blank_label(run: &str, breaks: usize) -> String {
    let blanks = run.len() - breaks - run.matches("\r\n").count();
    let unit = if run.contains('\t') { "blanks" } else { "spaces" };
    match (breaks, blanks) {
        (0, _) => format!("{blanks} {unit}"),
        (_, 0) => format!("{breaks} line breaks"),
        _ => format!("{breaks} line {} and {blanks} {unit}", plural(breaks, "break", "breaks")),
    }
}

const fn plural<'a>(count: usize, one: &'a str, many: &'a str) -> &'a str {
    if count == 1 { one } else { many }
}

fn code(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

/// Why a character is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hidden {
    /// It has this name.
    Named(&'static str),
    /// It joins what stands beside it; part of many emoji.
    Joiner,
    /// It chooses between two looks of what stands before it.
    Selector,
    /// A letter that no screen draws.
    Tag,
    /// It means something to one font only.
    Private,
    /// It is no character.
    Never,
}

impl Hidden {
    /// Whether `next` belongs to the same chip as `first`.
    fn runs_on(self, first: char, next: char) -> bool {
        match self {
            Self::Named(_) | Self::Joiner => first == next,
            _ => hidden(next) == Some(self),
        }
    }

    fn label(self, run: &[char]) -> String {
        let count = run.len();
        let first = run.first().map(|&c| code(c)).unwrap_or_default();
        let times = if count > 1 { format!(" ×{count}") } else { String::new() };
        match self {
            Self::Named(name) => format!("{first} {name}{times}"),
            Self::Joiner => format!("{first} zero-width joiner{times}"),
            Self::Selector => format!("{first} variation selector{times}"),
            Self::Tag => format!("{first} hidden text{}", tag_text(run)),
            Self::Private => format!("{first} private use{times}"),
            Self::Never => format!("{first} no character{times}"),
        }
    }
}

/// The text that tag characters spell, quoted.
fn tag_text(run: &[char]) -> String {
    let spelled: String = run
        .iter()
        .filter_map(|&c| u32::from(c).checked_sub(0xE_0000).and_then(char::from_u32))
        .filter(|c| matches!(c, ' '..='~'))
        .collect();
    if spelled.is_empty() {
        format!(" ({} {})", run.len(), plural(run.len(), "tag", "tags"))
    } else {
        format!(": “{spelled}”")
    }
}

/// Why a character is not shown, if it is not.
fn hidden(c: char) -> Option<Hidden> {
    use Hidden::{Joiner, Named, Never, Private, Selector, Tag};
    Some(match u32::from(c) {
        0x20..=0x7E => return None,
        0x00 => Named("null"),
        0x07 => Named("bell"),
        0x08 => Named("backspace"),
        0x09 => Named("tab"),
        0x0A => Named("line break"),
        0x0D => Named("carriage return"),
        0x1B => Named("terminal escape"),
        0x9B => Named("terminal escape (CSI)"),
        0x7F => Named("delete"),
        0x85 => Named("next line"),
        0x00..=0x1F | 0x80..=0x9F => Named("control"),
        0xA0 => Named("no-break space"),
        0xAD => Named("soft hyphen"),
        0x034F => Named("grapheme joiner"),
        0x061C => Named("Arabic letter mark"),
        0x115F | 0x1160 | 0x3164 | 0xFFA0 => Named("Hangul filler"),
        0x1680 => Named("Ogham space"),
        0x17B4 | 0x17B5 => Named("invisible vowel"),
        0x180B..=0x180F => Named("Mongolian selector"),
        0x2000..=0x200A | 0x205F => Named("odd space"),
        0x200B => Named("zero-width space"),
        0x200C => Named("zero-width non-joiner"),
        0x200D => Joiner,
        0x200E => Named("left-to-right mark"),
        0x200F => Named("right-to-left mark"),
        0x2028 => Named("line separator"),
        0x2029 => Named("paragraph separator"),
        0x202A => Named("left-to-right embedding"),
        0x202B => Named("right-to-left embedding"),
        0x202C => Named("end of direction"),
        0x202D => Named("left-to-right override"),
        0x202E => Named("right-to-left override"),
        0x202F => Named("narrow no-break space"),
        0x2060 => Named("word joiner"),
        0x2061..=0x2064 => Named("invisible operator"),
        0x2066 => Named("left-to-right isolate"),
        0x2067 => Named("right-to-left isolate"),
        0x2068 => Named("first-strong isolate"),
        0x2069 => Named("end of isolate"),
        0x2065 | 0x206A..=0x206F => Named("invisible format"),
        0x2800 => Named("blank pattern"),
        0x3000 => Named("wide space"),
        0xFE00..=0xFE0F | 0xE_0100..=0xE_01EF => Selector,
        0xFEFF => Named("zero-width no-break space"),
        0xFFF9..=0xFFFB => Named("annotation mark"),
        0xFFFC => Named("object placeholder"),
        0x1_BCA0..=0x1_BCA3 => Named("shorthand format"),
        0x1_D159 => Named("null notehead"),
        0x1_D173..=0x1_D17A => Named("musical format"),
        0xE_0000..=0xE_007F => Tag,
        0xFFF0..=0xFFF8 | 0xE_0080..=0xE_0FFF => Named("invisible"),
        0xE000..=0xF8FF | 0xF_0000..=0xF_FFFD | 0x10_0000..=0x10_FFFD => Private,
        0xFDD0..=0xFDEF => Never,
        code if code & 0xFFFE == 0xFFFE => Never,
        _ => return None,
    })
}

/// The black flag, base of the three flags that are spelled with tag characters.
const FLAG: char = '\u{1F3F4}';

/// The length of a flag that is spelled with tag characters, when it is one of the three that exist.
fn flag_len(rest: &str) -> Option<usize> {
    const FLAGS: [&str; 3] = [
        "\u{1F3F4}\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
        "\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
        "\u{1F3F4}\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}",
    ];
    FLAGS.iter().find(|flag| rest.starts_with(**flag)).map(|flag| flag.len())
}

/// Whether a joiner or a selector stands where an emoji needs it.
fn fits_emoji(c: char, before: Option<char>, after: Option<char>) -> bool {
    let Some(before) = before else { return false };
    match c {
        '\u{200D}' => (is_emoji(before) || before == '\u{FE0F}') && after.is_some_and(is_emoji),
        '\u{FE0F}' if matches!(before, '0'..='9' | '#' | '*') => after == Some('\u{20E3}'),
        '\u{FE0E}' | '\u{FE0F}' => is_emoji(before),
        _ => false,
    }
}

/// Roughly the characters that have an emoji form.
const fn is_emoji(c: char) -> bool {
    matches!(c, '©' | '®' | '‼' | '⁉' | '™' | 'ℹ'
        | '\u{2190}'..='\u{21FF}' | '\u{2300}'..='\u{23FF}' | '\u{24C2}' | '\u{25A0}'..='\u{27BF}'
        | '\u{2934}' | '\u{2935}' | '\u{2B00}'..='\u{2BFF}' | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}'
        | '\u{1F000}'..='\u{1FAFF}')
}

/// Marks that are drawn on the letter before them.
const fn is_mark(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{034E}' | '\u{0350}'..='\u{036F}' | '\u{0483}'..='\u{0489}'
        | '\u{0591}'..='\u{05BD}' | '\u{05BF}' | '\u{05C1}'..='\u{05C2}' | '\u{05C4}'..='\u{05C5}'
        | '\u{0610}'..='\u{061A}' | '\u{064B}'..='\u{065F}' | '\u{0670}' | '\u{06D6}'..='\u{06DC}'
        | '\u{0E31}' | '\u{0E34}'..='\u{0E3A}' | '\u{0E47}'..='\u{0E4E}'
        | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20E2}' | '\u{20E4}'..='\u{20FF}'
        | '\u{FE20}'..='\u{FE2F}')
}

/// Marks that strike out or cover the letter before them.
const fn is_overlay(c: char) -> bool {
    matches!(c, '\u{0334}'..='\u{0338}' | '\u{20D2}' | '\u{20D3}' | '\u{20D8}'..='\u{20DA}' | '\u{20DD}'..='\u{20E0}'
        | '\u{20E5}' | '\u{20E6}' | '\u{20EA}' | '\u{20EB}')
}

const fn is_latin(c: char) -> bool {
    matches!(c, 'a'..='z' | 'A'..='Z' | '\u{00C0}'..='\u{024F}')
}

/// The script of a letter that can be taken for a Latin one.
const fn look_alike(c: char) -> Option<&'static str> {
    match c {
        '\u{0400}'..='\u{052F}' | '\u{1C80}'..='\u{1C8F}' | '\u{A640}'..='\u{A69F}' => Some("Cyrillic"),
        'Α' | 'Β' | 'Ε' | 'Ζ' | 'Η' | 'Ι' | 'Κ' | 'Μ' | 'Ν' | 'Ο' | 'Ρ' | 'Τ' | 'Υ' | 'Χ' | 'α' | 'γ'
        | 'ι' | 'κ' | 'ν' | 'ο' | 'ρ' | 'τ' | 'υ' | 'χ' | 'ϲ' | 'ϳ' => Some("Greek"),
        '\u{0531}'..='\u{0587}' => Some("Armenian"),
        '\u{13A0}'..='\u{13FF}' | '\u{AB70}'..='\u{ABBF}' => Some("Cherokee"),
        '\u{2C80}'..='\u{2CFF}' => Some("Coptic"),
        '\u{A4D0}'..='\u{A4FF}' => Some("Lisu"),
        '\u{FF21}'..='\u{FF3A}' | '\u{FF41}'..='\u{FF5A}' => Some("full-width"),
        '\u{1D400}'..='\u{1D7FF}' => Some("mathematical"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(text: &str) -> String {
        visible_text(text, Place::Line)
    }

    fn body(text: &str) -> String {
        visible_text(text, Place::Body)
    }

    /// What a person would be shown, and how it has to be shown instead.
    #[test]
    fn corpus_in_a_line() {
        let corpus = [
            ("Mail to Ann", "Mail to Ann"),
            ("", ""),
            ("Grüße, 東京, שלום, مرحبا, привет", "Grüße, 東京, שלום, مرحبا, привет"),
            (
                "pay \u{202E}0001\u{202C} €",
                "pay ⟦U+202E right-to-left override⟧0001⟦U+202C end of direction⟧ €",
            ),
            ("a\u{2066}b\u{2069}", "a⟦U+2066 left-to-right isolate⟧b⟦U+2069 end of isolate⟧"),
            ("ad\u{200B}min", "ad⟦U+200B zero-width space⟧min"),
            ("a\u{200B}\u{200B}\u{200B}b", "a⟦U+200B zero-width space ×3⟧b"),
            ("x\u{E0069}\u{E0067}\u{E006E}y", "x⟦U+E0069 hidden text: “ign”⟧y"),
            ("x\u{E0001}y", "x⟦U+E0001 hidden text (1 tag)⟧y"),
            ("a\u{FE01}\u{E0101}b", "a⟦U+FE01 variation selector ×2⟧b"),
            ("a\u{FE0F}", "a⟦U+FE0F variation selector⟧"),
            ("one\ntwo", "one⟦U+000A line break⟧two"),
            ("one\ttwo\rthree", "one⟦U+0009 tab⟧two⟦U+000D carriage return⟧three"),
            ("\u{1B}[31mred", "⟦U+001B terminal escape⟧[31mred"),
            ("\u{9B}31m \0", "⟦U+009B terminal escape (CSI)⟧31m ⟦U+0000 null⟧"),
            ("a\u{2028}b\u{2029}c", "a⟦U+2028 line separator⟧b⟦U+2029 paragraph separator⟧c"),
            (
                "a\u{A0}b\u{3000}c\u{2003}d",
                "a⟦U+00A0 no-break space⟧b⟦U+3000 wide space⟧c⟦U+2003 odd space⟧d",
            ),
            (
                "\u{3164}\u{2800}\u{115F}",
                "⟦U+3164 Hangul filler⟧⟦U+2800 blank pattern⟧⟦U+115F Hangul filler⟧",
            ),
            ("soft\u{AD}ware", "soft⟦U+00AD soft hyphen⟧ware"),
            ("\u{E000}\u{F8FF}", "⟦U+E000 private use ×2⟧"),
            ("\u{FDD0}\u{1FFFF}\u{FFFE}", "⟦U+FDD0 no character ×3⟧"),
            ("a            b", "a⟦12 spaces⟧b"),
            ("a          b", "a          b"),
            ("Z\u{0300}\u{0301}\u{0302}\u{0303}algo", "Z⟦4 stacked marks⟧algo"),
            ("e\u{0301} o\u{0302}\u{0301}", "e\u{0301} o\u{0302}\u{0301}"),
            ("\u{0301}alone", "⟦1 stacked mark⟧alone"),
            ("p\u{0336}a\u{0336}id", "p⟦1 stacked mark⟧a⟦1 stacked mark⟧id"),
            ("nоrthwind", "nо⟦U+043E Cyrillic⟧rthwind"),
            (
                "раураl",
                "р⟦U+0440 Cyrillic⟧а⟦U+0430 Cyrillic⟧у⟦U+0443 Cyrillic⟧р⟦U+0440 Cyrillic⟧а⟦U+0430 Cyrillic⟧l",
            ),
            ("Gοοgle 5 μm Δt", "Gο⟦U+03BF Greek⟧ο⟦U+03BF Greek⟧gle 5 μm Δt"),
            ("𝐩aypal", "𝐩⟦U+1D429 mathematical⟧aypal"),
            ("<b>*bold*</b> [x](https://x.example)", "<b>*bold*</b> [x](https://x.example)"),
        ];
        for (text, shown) in corpus {
            assert_eq!(line(text), shown, "{}", text.escape_unicode());
        }
    }

    #[test]
    fn emoji_stay_whole() {
        for emoji in
            ["👩‍💻", "❤️", "☎︎", "1️⃣", "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}", "🏳️‍🌈", "👍🏽"]
        {
            assert_eq!(line(emoji), emoji);
        }
        assert_eq!(line("🏴\u{E0068}\u{E0069}"), "🏴⟦U+E0068 hidden text: “hi”⟧");
        assert_eq!(line("👩\u{200D}x"), "👩⟦U+200D zero-width joiner⟧x");
        assert_eq!(line("1\u{FE0F}"), "1⟦U+FE0F variation selector⟧");
    }

    #[test]
    fn corpus_in_a_body() {
        let corpus = [
            ("one\ntwo\r\n\tthree", "one\ntwo\r\n\tthree"),
            ("one\rtwo", "one⟦U+000D carriage return⟧two"),
            ("{\n                    \"deep\": 1\n}", "{\n                    \"deep\": 1\n}"),
            ("top\n\n\n\n\n\nsting", "top⟦6 line breaks⟧sting"),
            ("top\n \n \n \n \nsting", "top⟦5 line breaks and 4 spaces⟧sting"),
            ("x                         sting", "x⟦25 spaces⟧sting"),
            (
                "x\n                                                  sting",
                "x⟦1 line break and 50 spaces⟧sting",
            ),
            ("x\t\t\t\t\t\t\t\t\t\t\t\tsting", "x⟦12 blanks⟧sting"),
            ("x\u{B}\u{C}y", "x⟦U+000B control⟧⟦U+000C control⟧y"),
        ];
        for (text, shown) in corpus {
            assert_eq!(body(text), shown, "{}", text.escape_debug());
        }
    }

    #[test]
    fn hosts_that_imitate() {
        assert!(host_hint("api.mail.example:8443").is_none());
        assert!(host_hint("xn--nrthwind-m0g.example").is_some());
        assert!(host_hint("mail.XN--80ak6aa92e.com").is_some());
        assert!(host_hint("nоrthwind.example").is_some());
    }

    proptest! {
        /// No piece that is shown as it is holds anything hidden, and nothing of the text is lost but what a chip names.
        #[test]
        fn nothing_hidden_is_plain(text in any::<String>()) {
            let mut rest = text.as_str();
            for piece in visible(&text, Place::Line) {
                if let Piece::Plain(plain) = piece {
                    for c in plain.chars() {
                        let is_emoji_part = matches!(c, '\u{200D}' | '\u{FE0E}' | '\u{FE0F}');
                        prop_assert!(is_emoji_part || hidden(c).is_none(), "{}", c.escape_unicode());
                    }
                    let at = rest.find(plain);
                    prop_assert!(at.is_some());
                    rest = &rest[at.unwrap_or(0) + plain.len()..];
                }
            }
        }

        #[test]
        fn ordinary_text_is_one_piece(text in "[a-zA-Z0-9,.;:!?äöüß€(){}\"'/@-]{1,60}") {
            prop_assert_eq!(visible(&text, Place::Line), vec![Piece::Plain(text.as_str())]);
        }
    }
}
