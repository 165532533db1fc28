//! Reads one section of the merged tree, option by option. It notes every problem instead of stopping at the first, knows
//! which options were asked for (so that others are unknown), and keeps what it understood, secrets blotted out.

mod secrets;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use config::{Map, Value, ValueKind};

use crate::config::checks;
use crate::config::layers::{ENVIRONMENT, variable};
use crate::config::problems::{Problems, nearest};
use crate::platform::digits::whole;

/// A section while it is read. An option that is wrong reads as a placeholder: the result counts only without problems.
pub(in crate::config) struct Section<'a> {
    path: String,
    given: Map<String, Value>,
    asked: Vec<String>,
    understood: toml::Table,
    problems: &'a mut Problems,
}

impl<'a> Section<'a> {
    /// The whole tree.
    pub(in crate::config) fn root(given: Map<String, Value>, problems: &'a mut Problems) -> Self {
        Self { path: String::new(), given, asked: Vec::new(), understood: toml::Table::new(), problems }
    }

    /// The dotted path of an option in this section.
    pub(in crate::config) fn at(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Notes a problem with an option of this section.
    pub(in crate::config) fn problem(&mut self, key: &str, message: impl Into<String>, hint: impl Into<String>) {
        let path = self.at(key);
        self.problems.add(path, message, hint);
    }

    /// Whether a problem with this option is noted already.
    pub(in crate::config) fn has_problem_at(&self, key: &str) -> bool {
        let path = self.at(key);
        self.problems.iter().any(|problem| problem.path == path || problem.path.starts_with(&format!("{path}.")))
    }

    /// Notes a problem when the name the operator chose for this section is no id.
    pub(in crate::config) fn named(&mut self, id: &str) {
        if !checks::id(id) {
            self.problems.add(self.path.clone(), "has a name that does not fit", format!("expected {}", checks::ID));
        }
    }

    /// Notes a problem for each value of a list that does not fit.
    pub(in crate::config) fn every(&mut self, key: &str, values: &[String], what: &str, check: impl Fn(&str) -> bool) {
        for value in values.iter().filter(|value| !check(value)) {
            self.problem(key, format!("holds \"{}\"", value.escape_debug()), format!("expected {what}"));
        }
    }

    /// Ends the reading: what nobody asked for is unknown. Gives back what was understood.
    pub(in crate::config) fn finish(mut self) -> toml::Table {
        let left: Vec<String> = self.given.keys().cloned().collect();
        for key in left {
            let hint = match nearest(&key, self.asked.iter().map(String::as_str)) {
                Some(known) => format!("did you mean `{known}`?"),
                None => format!("known here: {}", self.asked.join(", ")),
            };
            self.problem(&key, "is not an option", hint);
        }
        self.understood
    }

    /// Leaves an option unread: it belongs to a part that is not started.
    pub(in crate::config) fn skip(&mut self, key: &str) {
        self.take(key);
    }

    /// A section in this one.
    pub(in crate::config) fn table<T>(&mut self, key: &str, read: impl FnOnce(&mut Section<'_>) -> T) -> T {
        let given = self.take(key);
        let (value, understood) = self.nested(key, given, read);
        self.understood.insert(key.to_owned(), understood.into());
        value
    }

    /// Sections by a name the operator chooses. `defaults` is what each of them starts from.
    pub(in crate::config) fn each<T>(
        &mut self,
        key: &str,
        defaults: &Map<String, Value>,
        mut read: impl FnMut(&str, &mut Section<'_>) -> T,
    ) -> BTreeMap<String, T> {
        let mut all = BTreeMap::new();
        let mut understood = toml::Table::new();
        let given = self.take(key);
        for (name, value) in self.map(key, given) {
            let value = Value::new(value.origin().map(str::to_owned).as_ref(), over(defaults, value.kind));
            let (read, table) = self.nested(&format!("{key}.{name}"), Some(value), |section| read(&name, section));
            understood.insert(name.clone(), table.into());
            all.insert(name, read);
        }
        self.understood.insert(key.to_owned(), understood.into());
        all
    }

    /// Sections in an order: `[[name]]` in a file, `NAME__0__…` in the environment.
    pub(in crate::config) fn series<T>(&mut self, key: &str, mut read: impl FnMut(&mut Section<'_>) -> T) -> Vec<T> {
        let values = match self.take(key) {
            Some(Value { kind: ValueKind::Array(values), .. }) => values,
            other => {
                let mut numbered: Vec<_> = self.map(key, other).into_iter().collect();
                numbered.sort_by_key(|(name, _)| name.parse::<u64>().unwrap_or(u64::MAX));
                numbered.into_iter().map(|(_, value)| value).collect()
            }
        };
        let mut all = Vec::new();
        let mut understood = Vec::new();
        for (index, value) in values.into_iter().enumerate() {
            let (read, table) = self.nested(&format!("{key}.{index}"), Some(value), &mut read);
            understood.push(toml::Value::Table(table));
            all.push(read);
        }
        self.understood.insert(key.to_owned(), understood.into());
        all
    }

    /// The options of a section as they were given, for [`Section::each`].
    pub(in crate::config) fn raw(&mut self, key: &str) -> Map<String, Value> {
        let given = self.take(key);
        self.map(key, given)
    }

    /// Text; may be empty.
    pub(in crate::config) fn text(&mut self, key: &str) -> String {
        let text = self.optional_text(key);
        if text.is_none() {
            self.missing(key);
        }
        let text = text.unwrap_or_default();
        self.keep(key, text.clone());
        text
    }

    /// Text that may be left out, and is empty then.
    pub(in crate::config) fn text_or_empty(&mut self, key: &str) -> String {
        let text = self.optional_text(key).unwrap_or_default();
        self.keep(key, text.clone());
        text
    }

    /// Text in a certain form; `what` says which, for people.
    pub(in crate::config) fn checked(&mut self, key: &str, what: &str, check: impl FnOnce(&str) -> bool) -> String {
        self.parsed(key, what, |text| check(text).then(|| text.to_owned()))
    }

    /// As [`Section::checked`], with the value of what was read.
    pub(in crate::config) fn parsed<T: Default>(&mut self, key: &str, what: &str, parse: impl FnOnce(&str) -> Option<T>) -> T {
        self.maybe_parsed(key, what, parse).unwrap_or_default()
    }

    /// As [`Section::parsed`] for types without a placeholder.
    pub(in crate::config) fn maybe_parsed<T>(
        &mut self,
        key: &str,
        what: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let before = self.problems.iter().count();
        let text = self.text(key);
        if self.problems.iter().count() > before {
            return None;
        }
        let value = parse(&text);
        if value.is_none() {
            let found = if text.is_empty() { "is empty".to_owned() } else { "does not fit".to_owned() };
            self.problem(key, found, format!("expected {what}"));
        }
        value
    }

    /// One of a few words.
    pub(in crate::config) fn choice<T: Copy>(&mut self, key: &str, first: (&str, T), others: &[(&str, T)]) -> T {
        let words: Vec<&str> = std::iter::once(first.0).chain(others.iter().map(|(word, _)| *word)).collect();
        let find = |text: &str| std::iter::once(&first).chain(others).find(|(word, _)| *word == text).map(|(_, value)| *value);
        self.maybe_parsed(key, &format!("one of {}", words.join(", ")), find).unwrap_or(first.1)
    }

    /// A whole number within bounds.
    pub(in crate::config) fn number<T: TryFrom<u64> + Default>(&mut self, key: &str, bounds: RangeInclusive<u64>) -> T {
        let Some(value) = self.take(key) else {
            self.missing(key);
            return T::default();
        };
        let number = match &value.kind {
            ValueKind::I64(number) => u64::try_from(*number).ok(),
            ValueKind::U64(number) => Some(*number),
            ValueKind::String(text) if from_environment(&value) => whole(text.trim()),
            ValueKind::String(_) => return self.wrong(key, &value, "a number without quotes"),
            _ => return self.wrong(key, &value, "a whole number"),
        };
        let fitting =
            number.filter(|number| bounds.contains(number)).and_then(|number| Some((number, T::try_from(number).ok()?)));
        let Some((number, fitting)) = fitting else {
            let hint = format!("expected a whole number from {} to {}", bounds.start(), bounds.end());
            self.problem(key, format!("is out of bounds{}", self.origin(key, &value)), hint);
            return T::default();
        };
        self.keep(key, i64::try_from(number).unwrap_or(i64::MAX));
        fitting
    }

    /// `true` or `false`.
    pub(in crate::config) fn flag(&mut self, key: &str) -> bool {
        let Some(value) = self.take(key) else {
            self.missing(key);
            return false;
        };
        let flag = match &value.kind {
            ValueKind::Boolean(flag) => Some(*flag),
            ValueKind::String(text) if from_environment(&value) => text.trim().parse().ok(),
            _ => None,
        };
        let Some(flag) = flag else { return self.wrong(key, &value, "true or false") };
        self.keep(key, flag);
        flag
    }

    /// A list of texts; in the environment with commas between them.
    pub(in crate::config) fn list(&mut self, key: &str) -> Vec<String> {
        let Some(value) = self.take(key) else {
            self.missing(key);
            return Vec::new();
        };
        let Some(list) = texts(&value) else { return self.wrong(key, &value, "a list of texts such as [\"one\", \"two\"]") };
        self.keep(key, list.clone());
        list
    }

    /// A path; relative ones count from the working folder.
    pub(in crate::config) fn path(&mut self, key: &str) -> PathBuf {
        PathBuf::from(self.checked(key, "a path", |text| !text.is_empty()))
    }

    /// A path that may be left out.
    pub(in crate::config) fn optional_path(&mut self, key: &str) -> Option<PathBuf> {
        let text = self.optional_text(key).filter(|text| !text.is_empty())?;
        self.keep(key, text.clone());
        Some(PathBuf::from(text))
    }
}

/// The parts the readers above are made of.
impl Section<'_> {
    fn take(&mut self, key: &str) -> Option<Value> {
        self.asked.push(key.to_owned());
        self.given.remove(key).filter(|value| !matches!(value.kind, ValueKind::Nil))
    }

    fn keep(&mut self, key: &str, value: impl Into<toml::Value>) {
        self.understood.insert(key.to_owned(), value.into());
    }

    fn nested<T>(&mut self, key: &str, given: Option<Value>, read: impl FnOnce(&mut Section<'_>) -> T) -> (T, toml::Table) {
        let path = self.at(key);
        // Of a section that is no section one problem is enough: what its options would say goes nowhere.
        let mut unheard = Problems::default();
        let usable = given.as_ref().is_none_or(|value| matches!(value.kind, ValueKind::Table(_)));
        let given = self.map(key, given);
        let problems = if usable { &mut *self.problems } else { &mut unheard };
        let mut section = Section { path, given, asked: Vec::new(), understood: toml::Table::new(), problems };
        let value = read(&mut section);
        (value, section.finish())
    }

    fn map(&mut self, key: &str, given: Option<Value>) -> Map<String, Value> {
        match given {
            None => Map::new(),
            Some(Value { kind: ValueKind::Table(map), .. }) => map,
            Some(other) => self.wrong(key, &other, "a section with options of its own"),
        }
    }

    fn optional_text(&mut self, key: &str) -> Option<String> {
        let value = self.take(key)?;
        if let ValueKind::String(text) = value.kind {
            return Some(text);
        }
        self.wrong::<()>(key, &value, "text in quotes");
        // A placeholder, so that the option does not count as missing on top.
        Some(String::new())
    }

    fn missing(&mut self, key: &str) {
        let hint = format!("set it in the file or as {}", variable(&self.at(key)));
        self.problem(key, "is missing", hint);
    }

    fn wrong<T: Default>(&mut self, key: &str, value: &Value, expected: impl Display) -> T {
        let kind = match &value.kind {
            ValueKind::Table(_) => "a section",
            ValueKind::Array(_) => "a list",
            ValueKind::String(_) => "text",
            ValueKind::Boolean(_) => "true or false",
            ValueKind::Float(_) => "a fraction",
            _ => "a number",
        };
        self.problem(key, format!("is {kind}{}", self.origin(key, value)), format!("expected {expected}"));
        T::default()
    }

    fn origin(&self, key: &str, value: &Value) -> String {
        if from_environment(value) { format!(" (from {})", variable(&self.at(key))) } else { String::new() }
    }
}

fn from_environment(value: &Value) -> bool {
    value.origin() == Some(ENVIRONMENT)
}

fn texts(value: &Value) -> Option<Vec<String>> {
    match &value.kind {
        ValueKind::Array(values) => values
            .iter()
            .map(|value| match &value.kind {
                ValueKind::String(text) => Some(text.clone()),
                _ => None,
            })
            .collect(),
        ValueKind::String(text) if from_environment(value) => {
            Some(text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect())
        }
        _ => None,
    }
}

/// `above` laid over `below`, section by section.
fn over(below: &Map<String, Value>, above: ValueKind) -> ValueKind {
    let ValueKind::Table(mut above) = above else { return above };
    for (key, value) in below {
        match (above.remove(key), &value.kind) {
            (None, _) => above.insert(key.clone(), value.clone()),
            (Some(upper), ValueKind::Table(lower)) => {
                let origin = upper.origin().map(str::to_owned);
                above.insert(key.clone(), Value::new(origin.as_ref(), over(lower, upper.kind)))
            }
            (Some(upper), _) => above.insert(key.clone(), upper),
        };
    }
    ValueKind::Table(above)
}
