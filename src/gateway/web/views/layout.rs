//! What `base.html` needs.

use crate::gateway::domain::principal::Principal;
use crate::gateway::web::assets;
use crate::gateway::web::site::Site;

/// The frame around a page.
pub(in crate::gateway) struct Chrome {
    pub(in crate::gateway) title: String,
    pub(in crate::gateway) part: &'static str,
    pub(in crate::gateway) site: SiteView,
    pub(in crate::gateway) assets: AssetLinks,
    pub(in crate::gateway) user: Option<UserView>,
    /// Token for the forms of the page; empty without a session.
    pub(in crate::gateway) csrf: String,
    pub(in crate::gateway) request_id: String,
    pub(in crate::gateway) flash: Option<News>,
    pub(in crate::gateway) offers_sign_in: bool,
}

impl Chrome {
    pub(in crate::gateway) fn is_in(&self, part: &str) -> bool {
        self.part == part
    }
}

/// One line about what was done before this page.
#[derive(Clone, Copy)]
pub(in crate::gateway) struct News {
    pub(in crate::gateway) words: &'static str,
    /// A modifier of the class `note`: `good`, `warn`, or nothing for a line that is neither.
    pub(in crate::gateway) style: &'static str,
}

/// The company a page speaks for.
pub(in crate::gateway) struct SiteView {
    pub(in crate::gateway) name: String,
    pub(in crate::gateway) logo: String,
    pub(in crate::gateway) theme: String,
    pub(in crate::gateway) initial: String,
}

impl SiteView {
    pub(in crate::gateway) fn of(site: &Site) -> Self {
        Self { name: site.name.clone(), logo: site.logo.clone(), theme: site.theme.clone(), initial: site.initial.clone() }
    }

    /// For answers where no tenant is known.
    pub(in crate::gateway) fn nobody() -> Self {
        Self { name: "Portal".to_owned(), logo: String::new(), theme: assets::all().css.href(), initial: "P".to_owned() }
    }
}

/// The person signed in.
pub(in crate::gateway) struct UserView {
    pub(in crate::gateway) name: String,
    pub(in crate::gateway) is_administrator: bool,
    /// Runs the platform.
    pub(in crate::gateway) is_operator: bool,
}

impl UserView {
    pub(in crate::gateway) fn of(user: &Principal, is_operator: bool) -> Self {
        Self { name: user.name.short(60), is_administrator: user.is_administrator(), is_operator }
    }
}

/// Addresses of the static files.
pub(in crate::gateway) struct AssetLinks {
    pub(in crate::gateway) css: String,
    pub(in crate::gateway) script: String,
    pub(in crate::gateway) checks: String,
    pub(in crate::gateway) accounts: String,
    pub(in crate::gateway) worker: String,
    pub(in crate::gateway) icon: String,
}

impl AssetLinks {
    pub(in crate::gateway) fn current() -> Self {
        let assets = assets::all();
        Self {
            css: assets.css.href(),
            script: assets.script.href(),
            checks: assets.checks.href(),
            accounts: assets.accounts.href(),
            worker: assets.worker.href(),
            icon: assets.icon.href(),
        }
    }
}
