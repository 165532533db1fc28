//! Groups of tasks: what was created together is shown and handled together (WIRE 18 #2).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::task::{Counts, Task};

/// The longest id that is taken.
const LONGEST: usize = 128;

/// The identifier of a group. Opaque; at most 128 characters, none of them a control character.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(in crate::gateway) struct GroupId(String);

/// Not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a group id has 1 to 128 characters")]
pub(in crate::gateway) struct BadGroupId;

impl GroupId {
    pub(in crate::gateway) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for GroupId {
    type Err = BadGroupId;

    fn from_str(text: &str) -> Result<Self, BadGroupId> {
        let fits = (1..=LONGEST).contains(&text.chars().count())
            && !text.trim().is_empty()
            && !text.chars().any(char::is_control)
            && text != "."
            && text != "..";
        if fits { Ok(Self(text.to_owned())) } else { Err(BadGroupId) }
    }
}

impl TryFrom<String> for GroupId {
    type Error = BadGroupId;

    fn try_from(text: String) -> Result<Self, BadGroupId> {
        text.parse()
    }
}

impl From<GroupId> for String {
    fn from(id: GroupId) -> Self {
        id.0
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The findings of all tasks together; a task that does not tell adds nothing.
pub(in crate::gateway) fn sum<'t>(tasks: impl IntoIterator<Item = &'t Task>) -> Counts {
    tasks.into_iter().filter_map(|task| task.counts).fold(Counts::default(), |sum, counts| sum.plus(&counts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_something_that_can_stand_in_an_address() {
        assert!("g-1".parse::<GroupId>().is_ok());
        for bad in ["", " ", ".", "..", "a\nb"] {
            assert_eq!(bad.parse::<GroupId>(), Err(BadGroupId), "{bad:?}");
        }
        assert!("x".repeat(129).parse::<GroupId>().is_err());
    }
}
