//! The device of a session in words: which browser on which system, read from its `User-Agent`. Only for people to recognise
//! their own sessions by; a device says of itself what it likes, so nothing is decided by it.

use serde::{Deserialize, Serialize};

/// A browser and its system. Words of ours only: nothing of the header is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::gateway) struct Device {
    browser: Option<Browser>,
    system: Option<System>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Browser {
    Chrome,
    Edge,
    Firefox,
    Opera,
    Safari,
    SamsungInternet,
    Vivaldi,
    Program,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum System {
    Android,
    ChromeOs,
    Ipad,
    Iphone,
    Linux,
    Mac,
    Windows,
}

/// What gives a browser away. Most claim to be Chrome, and Chrome claims to be Safari: the special ones come first.
const BROWSERS: [(&str, Browser); 16] = [
    ("Edg/", Browser::Edge),
    ("EdgA/", Browser::Edge),
    ("EdgiOS/", Browser::Edge),
    ("OPR/", Browser::Opera),
    ("OPT/", Browser::Opera),
    ("Vivaldi/", Browser::Vivaldi),
    ("SamsungBrowser/", Browser::SamsungInternet),
    ("Firefox/", Browser::Firefox),
    ("FxiOS/", Browser::Firefox),
    ("CriOS/", Browser::Chrome),
    ("Chrome/", Browser::Chrome),
    ("Chromium/", Browser::Chrome),
    ("Safari/", Browser::Safari),
    ("curl/", Browser::Program),
    ("Wget/", Browser::Program),
    ("python", Browser::Program),
];

/// What gives a system away. Android says Linux, too, and an iPhone says Mac.
const SYSTEMS: [(&str, System); 8] = [
    ("iPhone", System::Iphone),
    ("iPad", System::Ipad),
    ("Android", System::Android),
    ("CrOS", System::ChromeOs),
    ("Windows", System::Windows),
    ("Macintosh", System::Mac),
    ("Linux", System::Linux),
    ("X11", System::Linux),
];

impl Device {
    /// Reads a `User-Agent`; what is not known stays open.
    pub(in crate::gateway) fn read(agent: &str) -> Self {
        let browser = BROWSERS.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, browser)| *browser);
        let system = SYSTEMS.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, system)| *system);
        Self { browser, system }
    }

    /// `Firefox on Windows`; `A browser on Linux`, `Safari` and `An unknown device` where less is known.
    pub(in crate::gateway) fn words(self) -> String {
        let browser = self.browser.map(|browser| match browser {
            Browser::Chrome => "Chrome",
            Browser::Edge => "Edge",
            Browser::Firefox => "Firefox",
            Browser::Opera => "Opera",
            Browser::Safari => "Safari",
            Browser::SamsungInternet => "Samsung Internet",
            Browser::Vivaldi => "Vivaldi",
            Browser::Program => "A program without a window",
        });
        let system = self.system.map(|system| match system {
            System::Android => "Android",
            System::ChromeOs => "ChromeOS",
            System::Ipad => "iPad",
            System::Iphone => "iPhone",
            System::Linux => "Linux",
            System::Mac => "Mac",
            System::Windows => "Windows",
        });
        match (browser, system) {
            (Some(browser), Some(system)) => format!("{browser} on {system}"),
            (Some(browser), None) => browser.to_owned(),
            (None, Some(system)) => format!("A browser on {system}"),
            (None, None) => "An unknown device".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_told_as_their_owners_know_them() {
        let words = |agent: &str| Device::read(agent).words();
        let webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
        for (agent, expected) in [
            (format!("Mozilla/5.0 (Windows NT 10.0; Win64; x64) {webkit} Chrome/141.0 Safari/537.36"), "Chrome on Windows"),
            (format!("Mozilla/5.0 (Windows NT 10.0) {webkit} Chrome/141.0 Safari/537.36 Edg/141.0"), "Edge on Windows"),
            (format!("Mozilla/5.0 (X11; CrOS x86_64 1.0) {webkit} Chrome/141.0 Safari/537.36"), "Chrome on ChromeOS"),
            (format!("Mozilla/5.0 (Linux; Android 15; SM-S921B) {webkit} SamsungBrowser/28.0 Chrome/130.0 Mobile Safari/537.36"),
                "Samsung Internet on Android"),
            (format!("Mozilla/5.0 (X11; Linux x86_64) {webkit} HeadlessChrome/141.0 Safari/537.36"), "Chrome on Linux"),
            (format!("Mozilla/5.0 (X11; Linux x86_64) {webkit} Chrome/141.0 Safari/537.36 OPR/120.0"), "Opera on Linux"),
            ("Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0".to_owned(), "Firefox on Linux"),
            ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15"
                .to_owned(), "Safari on Mac"),
            ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/141.0 Mobile/15E148"
                .to_owned(), "Chrome on iPhone"),
            ("curl/8.14.1".to_owned(), "A program without a window"),
            ("Mozilla/5.0 (Windows NT 10.0) Something/1.0".to_owned(), "A browser on Windows"),
            (String::new(), "An unknown device"),
            ("\u{0}<script>alert(1)</script>".to_owned(), "An unknown device"),
        ] {
            assert_eq!(words(&agent), expected, "{agent}");
        }
    }
}
