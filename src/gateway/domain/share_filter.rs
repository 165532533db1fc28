//! Which shares a list shows, read from its address and written back into it.

use url::form_urlencoded;

use super::filter::{Refused, page, paged, unknown};
use super::share_entry::State;

/// States by which shares are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Shown {
    Open,
    /// Open, but too many wrong codes were typed: everybody waits.
    Locked,
    /// Open, but the company's policy keeps it closed.
    ByPolicy,
    CodeDead,
    UsedUp,
    Expired,
    Ended,
    /// Shares that the scanning service knows and this portal does not.
    Elsewhere,
}

impl Shown {
    pub(in crate::gateway) const ALL: [Self; 8] =
        [Self::Open, Self::Locked, Self::ByPolicy, Self::CodeDead, Self::UsedUp, Self::Expired, Self::Ended, Self::Elsewhere];

    /// In an address.
    pub(in crate::gateway) const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Locked => "locked",
            Self::ByPolicy => "by-policy",
            Self::CodeDead => "code-dead",
            Self::UsedUp => "used-up",
            Self::Expired => "expired",
            Self::Ended => "ended",
            Self::Elsewhere => "elsewhere",
        }
    }

    /// Whether a share in this state fits. A lock passes and stands beside the state, as the policy does; nothing is known of shares
    /// made elsewhere.
    pub(in crate::gateway) const fn fits(self, state: State) -> bool {
        match self {
            Self::Open | Self::Locked => matches!(state, State::Open),
            Self::CodeDead => matches!(state, State::CodeDead),
            Self::UsedUp => matches!(state, State::UsedUp),
            Self::Expired => matches!(state, State::Expired),
            Self::Ended => matches!(state, State::Ended),
            Self::ByPolicy | Self::Elsewhere => false,
        }
    }
}

/// A list of shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) struct ShareFilter {
    /// None: all of this portal.
    pub(in crate::gateway) shown: Option<Shown>,
    /// Only those of whoever reads.
    pub(in crate::gateway) own: bool,
    /// From 1.
    pub(in crate::gateway) page: u32,
}

impl ShareFilter {
    /// Reads the query of an address. Unknown names are passed over, unknown values are refused.
    pub(in crate::gateway) fn read(query: &str) -> Result<Self, Refused> {
        let mut filter = Self { shown: None, own: false, page: 1 };
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let value = value.trim();
            match name.as_ref() {
                "state" if !value.is_empty() => {
                    let shown = Shown::ALL.into_iter().find(|shown| shown.as_str() == value);
                    filter.shown = Some(shown.ok_or_else(|| unknown("state", value))?);
                }
                "own" => filter.own = !value.is_empty(),
                "page" => filter.page = page(value)?,
                _ => {}
            }
        }
        Ok(filter)
    }

    /// The query of an address for `page`, without the question mark; empty for the first page of everything.
    pub(in crate::gateway) fn query(self, page: u32) -> String {
        let mut out = form_urlencoded::Serializer::new(String::new());
        if let Some(shown) = self.shown {
            out.append_pair("state", shown.as_str());
        }
        if self.own {
            out.append_pair("own", "1");
        }
        paged(out, page)
    }

    pub(in crate::gateway) const fn is_all(self) -> bool {
        self.shown.is_none() && !self.own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_address_says_comes_back_in_the_next_one() {
        for query in ["", "state=locked&own=1&page=3", "state=elsewhere", "own=1"] {
            let filter = ShareFilter::read(query).unwrap();
            assert_eq!(filter.query(filter.page), query);
        }
        assert!(ShareFilter::read("state=gone").is_err());
        assert!(ShareFilter::read("page=none").is_err());
        assert!(ShareFilter::read("other=1&state=").unwrap().is_all());
    }
}
