//! API keys that are issued here to programs of a tenant: how their text is built, what a key may do and from where. The
//! text of a key, and what proves it, are never in here.

use std::net::IpAddr;
use std::time::Duration;

use flate2::Crc;
use serde::{Deserialize, Serialize};

use super::network::Network;
use super::route_table::{OpenTo, Repeat, Route, TABLE, named};
use crate::contract::paths;
use crate::platform::clock::Timestamp;
use crate::platform::hostile::Hostile;
use crate::platform::secret::Secret;

/// What every key begins with, and nothing else that we make.
const PREFIX: &str = "cdk_";
/// Characters of the id, of the secret part and of the checksum; all are `0-9A-Za-z`.
pub(in crate::gateway) const ID: usize = 12;
pub(in crate::gateway) const SECRET: usize = 43;
const CHECKSUM: usize = 6;
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The text of a key, `cdk_<id>_<secret><checksum>`, taken apart. The checksum is the CRC-32 of everything before it in
/// base 62: whoever scans texts for leaked keys can tell one from what only looks like it, without asking us.
#[derive(Clone, Copy)]
pub(in crate::gateway) struct KeyText<'t> {
    pub(in crate::gateway) id: &'t str,
    pub(in crate::gateway) secret: &'t str,
}

impl<'t> KeyText<'t> {
    /// Whether a credential wants to be one of these keys: nothing else is tried with it then.
    pub(in crate::gateway) fn looks_like_one(text: &str) -> bool {
        text.starts_with(PREFIX)
    }

    /// Reads a whole key; `None` for anything that was never issued in this form.
    pub(in crate::gateway) fn read(text: &'t str) -> Option<Self> {
        let (id, rest) = text.strip_prefix(PREFIX)?.split_at_checked(ID)?;
        let (secret, sum) = rest.strip_prefix('_')?.split_at_checked(SECRET)?;
        let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let body = text.get(..text.len().checked_sub(CHECKSUM)?)?;
        (plain(id) && plain(secret) && sum == checksum(body)).then_some(Self { id, secret })
    }

    /// The whole text, for the one time it is shown.
    pub(in crate::gateway) fn write(self) -> Secret {
        let mut text = String::with_capacity(PREFIX.len() + ID + 1 + SECRET + CHECKSUM);
        for part in [PREFIX, self.id, "_", self.secret] {
            text.push_str(part);
        }
        text.push_str(&checksum(&text));
        Secret::new(text)
    }
}

/// Six digits of base 62 hold any 32 bits.
fn checksum(text: &str) -> String {
    let mut crc = Crc::new();
    crc.update(text.as_bytes());
    let mut left = crc.sum();
    let mut digits = [0_u8; CHECKSUM];
    for digit in digits.iter_mut().rev() {
        *digit = LETTERS.get(usize::try_from(left % 62).unwrap_or(0)).copied().unwrap_or(b'0');
        left /= 62;
    }
    digits.iter().map(|&digit| char::from(digit)).collect()
}

/// Operations that are given together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Group {
    /// Tasks, what they found, and reports.
    Read,
    /// Uploads, checks before a scan, starting and stopping scans.
    Scan,
    /// Shares: listing, creating, changing, ending.
    Share,
    /// Deleting tasks for good.
    Delete,
}

impl Group {
    pub(in crate::gateway) const ALL: [Self; 4] = [Self::Read, Self::Scan, Self::Share, Self::Delete];

    /// The group of an operation; `None` for those that need no key.
    pub(in crate::gateway) fn of(route: &Route) -> Option<Self> {
        let tasks = route.path.split('/').nth(3) == Some("tasks");
        match route {
            Route { open_to: OpenTo::Everybody, .. } => None,
            Route { path: paths::TASKS_DELETE, .. } => Some(Self::Delete),
            _ if route.path.starts_with(paths::SHARES) => Some(Self::Share),
            Route { repeat: Repeat::Safe, .. } if tasks => Some(Self::Read),
            _ => Some(Self::Scan),
        }
    }

    /// Its operations.
    pub(in crate::gateway) fn routes(self) -> impl Iterator<Item = &'static Route> {
        TABLE.iter().filter(move |route| Self::of(route) == Some(self))
    }

    pub(in crate::gateway) const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Scan => "scan",
            Self::Share => "share",
            Self::Delete => "delete",
        }
    }
}

/// The operations a key may call, in order of their names. Operations that no longer exist fall out when it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub(in crate::gateway) struct Scopes(Vec<&'static str>);

impl Scopes {
    /// All operations of these groups, and these by name. Names that cannot be given are left out.
    pub(in crate::gateway) fn of<'n>(groups: &[Group], names: impl IntoIterator<Item = &'n str>) -> Self {
        let single = names.into_iter().filter_map(named).filter(|route| Group::of(route).is_some());
        let mut all: Vec<_> = groups.iter().flat_map(|group| group.routes()).chain(single).map(|route| route.name).collect();
        all.sort_unstable();
        all.dedup();
        Self(all)
    }

    pub(in crate::gateway) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::gateway) fn contains(&self, route: &Route) -> bool {
        self.0.binary_search(&route.name).is_ok()
    }

    /// Whether all operations of the group are in it.
    pub(in crate::gateway) fn has(&self, group: Group) -> bool {
        group.routes().all(|route| self.contains(route))
    }

    /// Operations that are in it without the rest of their group.
    pub(in crate::gateway) fn single(&self) -> Vec<&'static str> {
        let loose = |name: &&&str| named(name).and_then(Group::of).is_some_and(|group| !self.has(group));
        self.0.iter().filter(loose).copied().collect()
    }
}

impl From<Vec<String>> for Scopes {
    fn from(names: Vec<String>) -> Self {
        Self::of(&[], names.iter().map(String::as_str))
    }
}

impl From<Scopes> for Vec<String> {
    fn from(scopes: Scopes) -> Self {
        scopes.0.into_iter().map(str::to_owned).collect()
    }
}

/// Networks a key may be used from; none listed means any. An entry that cannot be read any more lets nobody in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub(in crate::gateway) struct AllowList {
    texts: Vec<String>,
    networks: Vec<Network>,
}

impl AllowList {
    /// Reads networks or addresses, separated by blanks, line breaks or commas, at most `most`.
    ///
    /// # Errors
    /// Words for the person who typed it.
    pub(in crate::gateway) fn parse(typed: &str, most: usize) -> Result<Self, String> {
        let split = |letter: char| letter.is_whitespace() || letter == ',';
        let texts: Vec<String> = typed.split(split).filter(|text| !text.is_empty()).map(str::to_owned).collect();
        if texts.len() > most {
            return Err(format!("At most {most} networks can be listed."));
        }
        if let Some(odd) = texts.iter().find(|text| Network::parse(text).is_none()) {
            let odd: String = odd.chars().take(60).collect();
            return Err(format!("“{odd}” is no network. Write addresses such as 192.0.2.7, or networks such as 192.0.2.0/24."));
        }
        Ok(Self::from(texts))
    }

    pub(in crate::gateway) fn allows(&self, address: IpAddr) -> bool {
        self.texts.is_empty() || self.networks.iter().any(|network| network.contains(address))
    }

    /// As they were typed.
    pub(in crate::gateway) fn texts(&self) -> &[String] {
        &self.texts
    }
}

impl From<Vec<String>> for AllowList {
    fn from(texts: Vec<String>) -> Self {
        Self { networks: texts.iter().filter_map(|text| Network::parse(text)).collect(), texts }
    }
}

impl From<AllowList> for Vec<String> {
    fn from(list: AllowList) -> Self {
        list.texts
    }
}

/// One text of a key: rotation makes another, and the earlier one may stay good for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct Edition {
    /// 1 for the first; no two of a key have the same.
    pub(in crate::gateway) number: u32,
    pub(in crate::gateway) made_at: Timestamp,
    /// From then on it is good for nothing.
    pub(in crate::gateway) ends: Timestamp,
    /// The last four characters of the text, which are of its checksum; empty in records of before they were kept.
    #[serde(default)]
    pub(in crate::gateway) last_four: String,
}

/// What may be shown of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct ApiKey {
    /// Part of the text; no secret.
    pub(in crate::gateway) id: String,
    pub(in crate::gateway) label: Hostile,
    pub(in crate::gateway) scopes: Scopes,
    pub(in crate::gateway) networks: AllowList,
    /// How long a text is good for after it was made.
    pub(in crate::gateway) days: u32,
    pub(in crate::gateway) created_at: Timestamp,
    /// Name of the administrator who created it.
    pub(in crate::gateway) created_by: Hostile,
    /// [`Principal::key`](super::principal::Principal::key) of that administrator; empty for keys from before this was noted.
    #[serde(default)]
    pub(in crate::gateway) maker: String,
    /// Newest first; at least one.
    pub(in crate::gateway) editions: Vec<Edition>,
}

impl ApiKey {
    /// Whether the key may call this operation. What is open to everybody is open to keys as well.
    pub(in crate::gateway) fn may(&self, route: &Route) -> bool {
        route.open_to == OpenTo::Everybody || self.scopes.contains(route)
    }

    /// When its newest text ends.
    pub(in crate::gateway) fn ends(&self) -> Timestamp {
        self.editions.first().map_or(self.created_at, |edition| edition.ends)
    }

    /// Earlier texts that are still good at `now`.
    pub(in crate::gateway) fn overlapping(&self, now: Timestamp) -> impl Iterator<Item = &Edition> {
        self.editions.iter().skip(1).filter(move |edition| edition.ends > now)
    }

    /// Number of its newest text; 0 when it has none.
    pub(in crate::gateway) fn newest(&self) -> u32 {
        self.editions.first().map_or(0, |newest| newest.number)
    }

    /// Makes room for a text made at `now`: earlier ones end after `overlap` at the latest, and those that ended are forgotten.
    /// The number of the new one.
    pub(in crate::gateway) fn rotate(&mut self, now: Timestamp, overlap: Duration, last_four: String) -> u32 {
        let number = self.newest() + 1;
        let last = now.after(overlap);
        for edition in &mut self.editions {
            edition.ends = edition.ends.min(last);
        }
        self.editions.retain(|edition| edition.ends > now);
        let ends = now.after(Duration::from_hours(24 * u64::from(self.days)));
        self.editions.insert(0, Edition { number, made_at: now, ends, last_four });
        number
    }
}

/// How long the earlier text of a rotated key stays good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Overlap {
    None,
    Hour,
    Day,
    Week,
}

impl Overlap {
    pub(in crate::gateway) const ALL: [Self; 4] = [Self::None, Self::Hour, Self::Day, Self::Week];

    pub(in crate::gateway) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|overlap| overlap.as_str() == name)
    }

    pub(in crate::gateway) const fn as_str(self) -> &'static str {
        match self {
            Self::None => "0",
            Self::Hour => "1h",
            Self::Day => "24h",
            Self::Week => "7d",
        }
    }

    pub(in crate::gateway) const fn time(self) -> Duration {
        Duration::from_hours(match self {
            Self::None => 0,
            Self::Hour => 1,
            Self::Day => 24,
            Self::Week => 24 * 7,
        })
    }
}

/// Why a key lets nobody in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum KeyRefusal {
    /// No key of this tenant, or not any more. Which of the two is not told.
    Unknown,
    /// It was good once.
    Expired,
    /// It is good, but not from this address.
    Network,
    /// Nobody can tell at the moment.
    Unavailable,
}

impl KeyRefusal {
    /// For metrics and the audit trail.
    pub(in crate::gateway) const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Expired => "expired",
            Self::Network => "network",
            Self::Unavailable => "unavailable",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::random;

    fn text() -> String {
        let (id, secret) = (random::letters(ID).unwrap(), random::letters(SECRET).unwrap());
        KeyText { id: &id, secret: &secret }.write().expose().to_owned()
    }

    #[test]
    fn the_text_of_a_key_has_a_fixed_form_that_scanners_can_look_for() {
        // The CRC-32 of "cdk_000000000000_" and 43 zeros, in base 62: fixed for good, scanners rely on it.
        let zeros = KeyText { id: &"0".repeat(ID), secret: &"0".repeat(SECRET) }.write();
        assert_eq!(zeros.expose().len(), 66);
        let body = format!("cdk_{}_{}", "0".repeat(12), "0".repeat(43));
        assert_eq!(zeros.expose(), format!("{body}3BBLzc"));
        for _ in 0..100 {
            let text = text();
            assert!(text.starts_with("cdk_") && text.len() == 66, "{text}");
            assert!(text[4..16].bytes().chain(text[17..].bytes()).all(|byte| byte.is_ascii_alphanumeric()));
            let read = KeyText::read(&text).unwrap();
            assert_eq!(text, read.write().expose());
        }
    }

    #[test]
    fn a_key_with_any_character_changed_or_missing_is_none() {
        let text = text();
        for place in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
            assert!(KeyText::read(&String::from_utf8(changed).unwrap()).is_none(), "character {place}");
            assert!(KeyText::read(&text[..place]).is_none(), "cut at {place}");
        }
        for odd in ["", "cdk_", "cdk_ä", &format!("{text} "), &format!(" {text}"), &text.to_uppercase(), &"ä".repeat(33)] {
            assert!(KeyText::read(odd).is_none(), "{odd:?}");
        }
        assert!(KeyText::looks_like_one("cdk_anything") && !KeyText::looks_like_one("eyJhbGciOi"));
    }

    #[test]
    fn every_operation_that_needs_a_credential_is_in_one_group() {
        let grouped: usize = Group::ALL.iter().map(|group| group.routes().count()).sum();
        assert_eq!(grouped, TABLE.iter().filter(|route| route.open_to == OpenTo::Members).count());
        let names = |group: Group| group.routes().map(|route| route.name).collect::<Vec<_>>();
        assert_eq!(names(Group::Delete), ["deleteTasks"]);
        assert!(names(Group::Read).contains(&"getReport") && names(Group::Read).contains(&"searchTasks"));
        assert!(Group::Read.routes().all(|route| route.repeat == Repeat::Safe));
        for scan in ["createTask", "uploadFile", "checkFile", "terminateTasks", "createBrowser", "analyzePom"] {
            assert!(names(Group::Scan).contains(&scan), "{scan}");
        }
        assert_eq!(names(Group::Share).len(), 5);
    }

    #[test]
    fn a_key_may_do_what_it_was_given_and_what_everybody_may() {
        let scopes = Scopes::of(&[Group::Read], ["createTask", "getSharedContent", "dropEverything"]);
        let may: Vec<_> = TABLE.iter().filter(|route| scopes.contains(route)).map(|route| route.name).collect();
        assert!(may.contains(&"createTask") && !may.contains(&"uploadFile") && !may.contains(&"getSharedContent"));
        assert_eq!((scopes.has(Group::Read), scopes.has(Group::Scan)), (true, false));
        assert_eq!(scopes.single(), ["createTask"]);
        let again: Scopes = serde_json::from_str(&serde_json::to_string(&scopes).unwrap()).unwrap();
        assert_eq!(again, scopes);
        let older: Scopes = serde_json::from_str(r#"["getTask","gone","getTask"]"#).unwrap();
        assert_eq!(Vec::from(older), ["getTask"]);
        assert!(Scopes::default().is_empty() && Scopes::of(&[], ["gone"]).is_empty());
    }

    #[test]
    fn an_empty_list_lets_all_networks_in_and_any_other_only_its_own() {
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let any = AllowList::parse(" \n,", 3).unwrap();
        assert!(any.allows(address("203.0.113.9")) && any.texts().is_empty());
        let some = AllowList::parse("192.0.2.7\r\n10.0.0.0/8, 2001:db8::/32", 3).unwrap();
        for inside in ["192.0.2.7", "::ffff:10.1.2.3", "2001:db8:5::1"] {
            assert!(some.allows(address(inside)), "{inside}");
        }
        for outside in ["192.0.2.8", "11.0.0.1", "2001:db9::1"] {
            assert!(!some.allows(address(outside)), "{outside}");
        }
        assert!(AllowList::parse("10.0.0.0/8 10.0.0.0/33", 3).is_err());
        assert!(AllowList::parse("::1 ::2 ::3 ::4", 3).is_err());
        let unreadable: AllowList = serde_json::from_str(r#"["of another time"]"#).unwrap();
        assert!(!unreadable.allows(address("192.0.2.7")), "a list that cannot be read does not open");
    }
}
