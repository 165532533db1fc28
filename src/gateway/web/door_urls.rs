//! Addresses of recipients: both doors of shares and what is behind them.

use crate::contract::ids::{ShareId, VulId};
use crate::contract::paths::fill;
use crate::contract::reports::ReportType;
use crate::gateway::domain::share::{Doorway, Spot};

/// Recipients' addresses, below both doors alike. The pattern of `/s/…` asks for a code, that of `/o/…` for none.
pub(in crate::gateway) const DOOR: &str = "/s/{share}";
pub(in crate::gateway) const OPEN_DOOR: &str = "/o/{share}";
/// Both, as pages that something leads back to.
pub(in crate::gateway) const DOORS: [&str; 2] = [DOOR, OPEN_DOOR];
const VIEW: &str = "/view";
const VIEW_FINDING: &str = "/view/findings/{vul}";
const VIEW_CHAIN: &str = "/view/chains/{chain}";
const VIEW_REPORT: &str = "/view/report";
const CLOSE: &str = "/close";

/// The pattern of a door.
pub(in crate::gateway) const fn doorway(doorway: Doorway) -> &'static str {
    match doorway {
        Doorway::Code => DOOR,
        Doorway::Open => OPEN_DOOR,
    }
}

/// The patterns behind a door: view, finding, chain, report, close.
pub(in crate::gateway) fn behind(door: Doorway) -> [String; 5] {
    [VIEW, VIEW_FINDING, VIEW_CHAIN, VIEW_REPORT, CLOSE].map(|below| format!("{}{below}", doorway(door)))
}

/// Whether a pattern or a path is one of recipients: what follows in it may be a capability.
pub(in crate::gateway) fn is_recipients(path: &str) -> bool {
    Doorway::ALL.iter().any(|door| doorway(*door).strip_suffix("{share}").is_some_and(|start| path.starts_with(start)))
}

pub(in crate::gateway) fn door(spot: &Spot) -> String {
    fill(doorway(spot.doorway), &[spot.share.as_str()])
}

/// The query of a door to which an address behind it led. It says nothing about the share.
pub(in crate::gateway) const AGAIN: &str = "again";

/// The door, for whoever came by an address behind it.
pub(in crate::gateway) fn door_again(spot: &Spot) -> String {
    format!("{}?{AGAIN}", door(spot))
}

/// The door that recipients are sent to: of shares with a code, or of those without.
pub(in crate::gateway) fn entrance(id: &ShareId, needs_code: bool) -> String {
    door(&Spot { doorway: Doorway::of(needs_code), share: id.clone() })
}

pub(in crate::gateway) fn share_view(spot: &Spot) -> String {
    format!("{}{VIEW}", door(spot))
}

pub(in crate::gateway) fn share_finding(spot: &Spot, vul: &VulId) -> String {
    format!("{}{}", door(spot), fill(VIEW_FINDING, &[vul.as_str()]))
}

pub(in crate::gateway) fn share_chain(spot: &Spot, chain: &VulId) -> String {
    format!("{}{}", door(spot), fill(VIEW_CHAIN, &[chain.as_str()]))
}

pub(in crate::gateway) fn share_report(spot: &Spot, form: ReportType) -> String {
    format!("{}{VIEW_REPORT}?type={}", door(spot), form.as_str())
}

pub(in crate::gateway) fn share_close(spot: &Spot) -> String {
    format!("{}{CLOSE}", door(spot))
}
