//! Keys as an administrator makes them: on the pages for it.

use super::client::{Answer, Browser};

impl Browser {
    /// Adds a server key, which the scanning service has to know; the first one is active at once.
    pub(crate) async fn add_server_key(&mut self, portal: &str, label: &str, key: &str) -> Answer {
        let url = format!("{portal}/admin/keys");
        let csrf = self.get(&url).await.hidden("csrf");
        let added = self.post(&url, &[("csrf", &csrf), ("label", label), ("key", key)]).await;
        assert_eq!(added.status, 303, "{}", added.text());
        self.get(&url).await
    }

    /// Issues an API key; gives its text. `fields` are put in the place of those that are usual: everything, from everywhere.
    pub(crate) async fn issue_api_key(&mut self, portal: &str, fields: &[(&str, &str)]) -> String {
        let form = self.get(&format!("{portal}/admin/api-keys/new")).await;
        let (csrf, once) = (form.hidden("csrf"), form.hidden("once"));
        let all = ["read", "scan", "share", "delete"].map(|group| ("group", group));
        let usual = [("label", "build"), ("days", "30"), ("networks", "")];
        let usual = usual.into_iter().chain(all).filter(|(name, _)| !fields.iter().any(|(given, _)| given == name));
        let own = [("csrf", &*csrf), ("once", &*once)];
        let sent: Vec<(&str, &str)> = own.into_iter().chain(usual).chain(fields.iter().copied()).collect();
        let made = self.post(&format!("{portal}/admin/api-keys"), &sent).await;
        assert_eq!(made.status, 200, "{}", made.text());
        made.by_id("api-key")
    }
}
