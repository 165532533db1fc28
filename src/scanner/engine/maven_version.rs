//! The order of Maven versions, as Maven 3.8's `ComparableVersion` has it. Compares; never judges whether a version is sensible.

use std::cmp::Ordering;

/// Longer versions are cut here: no real one comes near, and nesting grows with length.
const MAX_CHARS: usize = 256;

/// Where the qualifiers with a meaning stand; a release (no qualifier) is [`RELEASE`], any other word comes after all of them.
const QUALIFIERS: [&str; 7] = ["alpha", "beta", "milestone", "rc", "snapshot", "", "sp"];
const RELEASE: usize = 5;

/// A version that can be compared. Equality is that of the order: `1.0` equals `1`.
#[derive(Clone, Debug)]
pub(super) struct MavenVersion(Vec<Item>);

#[derive(Clone, Debug)]
enum Item {
    /// Digits without leading zeros; empty is zero. Any length: compared by length, then by digit.
    Number(String),
    Word(Rank),
    /// What follows a dash or a change between digits and letters.
    List(Vec<Item>),
}

/// A qualifier's place in the order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Known(usize),
    Unknown(String),
}

impl MavenVersion {
    /// Reads any text; there is no wrong version.
    pub(super) fn parse(text: &str) -> Self {
        let lower: String = text.trim().chars().take(MAX_CHARS).collect::<String>().to_lowercase();
        let mut builder = Builder { lists: vec![Vec::new()] };
        let mut token = String::new();
        for c in lower.chars() {
            let digits = token.starts_with(|first: char| first.is_ascii_digit());
            match c {
                '.' | '-' => {
                    builder.separated(&token);
                    token.clear();
                    if c == '-' {
                        builder.open();
                    }
                }
                _ if token.is_empty() || c.is_ascii_digit() == digits => token.push(c),
                _ => {
                    if digits {
                        builder.add(number(&token));
                    } else {
                        builder.word(&token, true);
                    }
                    builder.open();
                    token.clear();
                    token.push(c);
                }
            }
        }
        if token.starts_with(|first: char| first.is_ascii_digit()) {
            builder.add(number(&token));
        } else if !token.is_empty() {
            builder.word(&token, false);
        }
        Self(builder.finish())
    }
}

impl Ord for MavenVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_lists(&self.0, &other.0)
    }
}

impl PartialOrd for MavenVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for MavenVersion {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for MavenVersion {}

/// The lists that are open while a version is read; each is the last item of the one before it.
struct Builder {
    lists: Vec<Vec<Item>>,
}

impl Builder {
    fn add(&mut self, item: Item) {
        if let Some(list) = self.lists.last_mut() {
            list.push(item);
        }
    }

    fn open(&mut self) {
        self.lists.push(Vec::new());
    }

    /// What stands before a dot or dash; nothing there counts as zero.
    fn separated(&mut self, token: &str) {
        if token.is_empty() || token.starts_with(|first: char| first.is_ascii_digit()) {
            self.add(number(token));
        } else {
            self.add(Item::Word(rank(token, false)));
        }
    }

    /// A word before digits or at the end has a list of its own, so that `1.0.x1` equals `1.0-x1`.
    fn word(&mut self, token: &str, before_digit: bool) {
        if self.lists.last().is_some_and(|list| !list.is_empty()) {
            self.open();
        }
        self.add(Item::Word(rank(token, before_digit)));
    }

    fn finish(mut self) -> Vec<Item> {
        while let Some(mut list) = self.lists.pop() {
            drop_trailing_nulls(&mut list);
            match self.lists.last_mut() {
                Some(outer) => outer.push(Item::List(list)),
                None => return list,
            }
        }
        Vec::new()
    }
}

fn number(digits: &str) -> Item {
    Item::Number(digits.trim_start_matches('0').to_owned())
}

fn rank(word: &str, before_digit: bool) -> Rank {
    let word = match word {
        "a" if before_digit => "alpha",
        "b" if before_digit => "beta",
        "m" if before_digit => "milestone",
        "ga" | "final" | "release" => "",
        "cr" => "rc",
        other => other,
    };
    QUALIFIERS.iter().position(|known| *known == word).map_or_else(|| Rank::Unknown(word.to_owned()), Rank::Known)
}

/// Zeros, empty qualifiers and empty lists at the end say nothing, also before a list that stays.
fn drop_trailing_nulls(list: &mut Vec<Item>) {
    for at in (0..list.len()).rev() {
        match list.get(at) {
            Some(Item::Number(digits)) if digits.is_empty() => {}
            Some(Item::Word(Rank::Known(RELEASE))) => {}
            Some(Item::List(items)) if items.is_empty() => {}
            Some(Item::List(_)) => continue,
            _ => break,
        }
        list.remove(at);
    }
}

fn compare_lists(left: &[Item], right: &[Item]) -> Ordering {
    let length = left.len().max(right.len());
    (0..length)
        .map(|at| match (left.get(at), right.get(at)) {
            (Some(left), Some(right)) => compare(left, right),
            (Some(left), None) => compare_to_nothing(left),
            (None, Some(right)) => compare_to_nothing(right).reverse(),
            (None, None) => Ordering::Equal,
        })
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn compare(left: &Item, right: &Item) -> Ordering {
    match (left, right) {
        (Item::Number(left), Item::Number(right)) => left.len().cmp(&right.len()).then_with(|| left.cmp(right)),
        (Item::Word(left), Item::Word(right)) => left.cmp(right),
        (Item::List(left), Item::List(right)) => compare_lists(left, right),
        (Item::Number(_), _) | (Item::List(_), Item::Word(_)) => Ordering::Greater,
        (Item::Word(_), _) | (Item::List(_), Item::Number(_)) => Ordering::Less,
    }
}

fn compare_to_nothing(item: &Item) -> Ordering {
    match item {
        Item::Number(digits) if digits.is_empty() => Ordering::Equal,
        Item::Number(_) => Ordering::Greater,
        Item::Word(rank) => rank.cmp(&Rank::Known(RELEASE)),
        Item::List(items) => items.iter().map(compare_to_nothing).find(|order| order.is_ne()).unwrap_or(Ordering::Equal),
    }
}

#[cfg(test)]
#[path = "maven_version_tests.rs"]
mod tests;
