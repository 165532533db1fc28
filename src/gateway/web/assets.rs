//! Static files from memory under content-hashed addresses, so that they may be kept forever and are never stale.

use std::sync::LazyLock;

use bytes::Bytes;

use crate::platform::digest;

/// One file as it is served.
pub(in crate::gateway) struct Asset {
    /// File name with its hash: `portal.0123456789ab.css`.
    pub(in crate::gateway) name: String,
    pub(in crate::gateway) media_type: &'static str,
    pub(in crate::gateway) body: Bytes,
}

impl Asset {
    fn new(stem: &str, extension: &str, media_type: &'static str, body: &'static [u8]) -> Self {
        let hash: String = digest::hex(&digest::sha256(body)).chars().take(12).collect();
        Self { name: format!("{stem}.{hash}.{extension}"), media_type, body: Bytes::from_static(body) }
    }

    /// The address below the site's root.
    pub(in crate::gateway) fn href(&self) -> String {
        format!("/assets/{}", self.name)
    }
}

/// All static files.
pub(in crate::gateway) struct Assets {
    pub(in crate::gateway) css: Asset,
    pub(in crate::gateway) script: Asset,
    /// Network checks of a new scan.
    pub(in crate::gateway) checks: Asset,
    /// The embedded browser of a new scan.
    pub(in crate::gateway) accounts: Asset,
    pub(in crate::gateway) worker: Asset,
    pub(in crate::gateway) icon: Asset,
    logos: Vec<(&'static str, Asset)>,
}

static ASSETS: LazyLock<Assets> = LazyLock::new(|| {
    const JS: &str = "text/javascript; charset=utf-8";
    const SVG: &str = "image/svg+xml";
    Assets {
        css: Asset::new("portal", "css", "text/css; charset=utf-8", include_bytes!("../../../static/css/portal.css")),
        script: Asset::new("portal", "js", JS, include_bytes!("../../../static/js/portal.js")),
        checks: Asset::new("checks", "js", JS, include_bytes!("../../../static/js/checks.js")),
        accounts: Asset::new("accounts", "js", JS, include_bytes!("../../../static/js/accounts.js")),
        worker: Asset::new("hash-worker", "js", JS, include_bytes!("../../../static/js/hash-worker.js")),
        icon: Asset::new("icon", "svg", SVG, include_bytes!("../../../static/img/icon.svg")),
        logos: vec![
            ("img/acme.svg", Asset::new("acme", "svg", SVG, include_bytes!("../../../static/img/acme.svg"))),
            ("img/globex.svg", Asset::new("globex", "svg", SVG, include_bytes!("../../../static/img/globex.svg"))),
        ],
    }
});

/// The files compiled into this program.
pub(in crate::gateway) fn all() -> &'static Assets {
    &ASSETS
}

impl Assets {
    /// The file with this hashed name.
    pub(in crate::gateway) fn find(&self, name: &str) -> Option<&Asset> {
        [&self.css, &self.script, &self.checks, &self.accounts, &self.worker, &self.icon]
            .into_iter()
            .chain(self.logos.iter().map(|(_, asset)| asset))
            .find(|asset| asset.name == name)
    }

    /// The address of a logo named in the settings, e.g. `img/acme.svg`.
    pub(in crate::gateway) fn logo(&self, path: &str) -> Option<String> {
        self.logos.iter().find(|(name, _)| *name == path).map(|(_, asset)| asset.href())
    }
}
