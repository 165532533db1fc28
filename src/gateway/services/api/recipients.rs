//! Calls of programs to what recipients of shares may ask: they pass the same guard as recipients at the doors, and what they are
//! shown has its credentials taken out as on the pages.

use bytes::Bytes;
use http::header;
use serde_json::{Value, json};

use super::reply::Reply;
use super::{Api, Ask, Sent};
use crate::contract::ids::ShareId;
use crate::contract::paths;
use crate::contract::shares::ExtractShare;
use crate::gateway::domain::device::Device;
use crate::gateway::domain::masking::{LEFT_OUT, masked, names_a_credential};
use crate::gateway::domain::route_table::{Route, Verb};
use crate::gateway::domain::share::{Doorway, Spot};
use crate::gateway::services::error::Error;
use crate::gateway::services::share_page::{Guest, Place, Wanted};
use crate::gateway::upstream::proxy::Proxy;
use crate::platform::hostile::Hostile;
use crate::platform::secret::Secret;

/// The operations.
const OPERATIONS: [&str; 3] = [paths::SHARE_PUBLIC, paths::SHARE_PUBLIC_VUL, paths::SHARE_PUBLIC_CHAIN];

/// Whether an operation is one that recipients ask for.
pub(super) fn ask(route: &Route) -> bool {
    OPERATIONS.contains(&route.path)
}

impl Api {
    /// Asks the service for what a share shows, if the door lets the call in.
    pub(super) async fn through_door(&self, proxy: &Proxy, mut ask: Ask<'_>, sent: Sent) -> Result<Reply, Error> {
        let wanted = match ask.found.route.path {
            _ if ask.found.is_head => Wanted::Look,
            paths::SHARE_PUBLIC => Wanted::Share,
            _ => Wanted::Part,
        };
        let (sent, guest) = self.at_door(&mut ask, sent).await?;
        let reply = self.answered(proxy, ask, sent).await?;
        self.shares.passed(&guest, wanted, reply.status.as_u16()).await?;
        if wanted == Wanted::Look {
            return Ok(reply);
        }
        let (reply, mut shown) = reply.read(self.most).await?;
        if mask(&mut shown) { reply.with(&shown) } else { Ok(reply) }
    }

    async fn at_door(&self, ask: &mut Ask<'_>, sent: Sent) -> Result<(Sent, Guest), Error> {
        let Some(Ok(share)) = ask.found.parameters.first().map(|id| id.parse::<ShareId>()) else { return Err(Error::NotFound) };
        let place = Place {
            tenant: ask.tenant.clone(),
            spot: Spot { doorway: Doorway::Code, share },
            network: ask.network.to_owned(),
            device: Device::default(),
            request_id: ask.request_id.to_owned(),
        };
        // Credentials are taken out of whole answers, not out of parts.
        for name in [header::RANGE, header::IF_RANGE] {
            ask.headers.remove(name);
        }
        match sent {
            Sent::Whole(Some(body)) if ask.found.route.verb == Verb::Post => {
                let guest = self.shares.pass(place, code(&body)?).await?;
                // Sent anew where it was read: no other reading of the body tries another code than the one that counts.
                Ok((Sent::Whole(Some(written(guest.code.as_ref()))), guest))
            }
            other => Ok((other, self.shares.pass(place, None).await?)),
        }
    }
}

/// The code of a body; none for an empty one.
fn code(body: &[u8]) -> Result<Option<Secret>, Error> {
    // No body says as much as an empty object.
    if body.is_empty() {
        return Ok(None);
    }
    let read: ExtractShare = serde_json::from_slice(body)
        .map_err(|_| Error::Invalid("The body is not an extractionCode as the interface describes it.".to_owned()))?;
    Ok(Some(read.extraction_code).filter(|code| !code.is_empty()).map(Secret::new))
}

fn written(code: Option<&Secret>) -> Bytes {
    Bytes::from(json!({ "extractionCode": code.map_or("", Secret::expose) }).to_string())
}

/// Takes credentials out of every text, names of fields among them, and out of what stands beside the name of a credential. False
/// where there was none.
fn mask(shown: &mut Value) -> bool {
    match shown {
        Value::String(text) => {
            let without = masked(&Hostile::from(text.as_str()));
            let changed = without.raw() != text;
            if changed {
                without.raw().clone_into(text);
            }
            changed
        }
        // `["Cookie", "a=1"]`, as lists of headers have it.
        Value::Array(all) if all.iter().any(is_a_name) => blot_all(all.iter_mut().filter(|one| !is_a_name(one))),
        Value::Array(all) => all.iter_mut().fold(false, |changed, one| mask(one) | changed),
        // `{"name": "Cookie", "value": "a=1"}` in any order.
        Value::Object(fields) if fields.iter().any(|(key, value)| is_for_names(key) && is_a_name(value)) => {
            fields.iter_mut().fold(false, |changed, (key, value)| {
                let is_value = !is_for_names(key);
                changed | if is_value { blot(value) } else { !is_a_name(value) && mask(value) }
            })
        }
        Value::Object(fields) => {
            let mut changed = false;
            for (key, value) in fields.iter_mut() {
                changed |= if names_a_credential(key) { blot(value) } else { mask(value) };
            }
            let telling: Vec<String> =
                fields.keys().filter(|key| masked(&Hostile::from(key.as_str())).raw() != **key).cloned().collect();
            for key in &telling {
                let without = masked(&Hostile::from(key.as_str())).raw().to_owned();
                if let Some(value) = fields.remove(key) {
                    fields.insert(without, value);
                }
            }
            changed || !telling.is_empty()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether a field holds the name of something whose value is in another.
fn is_for_names(key: &str) -> bool {
    ["name", "key", "header", "field"].iter().any(|word| key.eq_ignore_ascii_case(word))
}

fn is_a_name(value: &Value) -> bool {
    value.as_str().is_some_and(names_a_credential)
}

/// Takes out all of it.
fn blot(value: &mut Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::Array(all) => blot_all(all.iter_mut()),
        Value::Object(fields) => blot_all(fields.values_mut()),
        Value::Number(_) | Value::String(_) => {
            *value = Value::String(LEFT_OUT.to_owned());
            true
        }
    }
}

fn blot_all<'v>(values: impl Iterator<Item = &'v mut Value>) -> bool {
    values.fold(false, |changed, value| blot(value) | changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_taken_out_of_every_text_however_deep_and_what_has_none_stays() {
        let mut shown =
            json!({"a": [{"pocScript": "curl -H 'Cookie: sid=secret-1' x"}], "pocScriptOutput": "Authorization: secret-2"});
        assert!(mask(&mut shown));
        assert!(!shown.to_string().contains("secret-"), "{shown}");
        for mut shown in [
            json!({"pocScript": {"headers": {"Cookie": "a=secret-1"}, "postData": "x"}}),
            json!({"pocScript": {"headers": [{"name": "Cookie", "value": "a=secret-1"}]}}),
            json!({"pocScript": {"cookies": {"a": "secret-1", "b": {"c": ["secret-2"]}}}}),
            json!([["Cookie", "a=secret-1"], ["Host", "a"]]),
            json!({"pocScript": {"headers": {"Authorization": "secret-1"}}}),
            json!({"headers": [{"value": "secret-1", "name": "proxy-authorization"}]}),
            json!({"X-Api-Key": "secret-1", "JSESSIONID": "secret-2", "set-cookie": ["secret-3"]}),
            json!({"Cookie: y=secret-1": 1}),
            json!({"name": "Cookie", "header": "Cookie: a=secret-1", "value": "secret-2"}),
        ] {
            assert!(mask(&mut shown), "{shown}");
            assert!(!shown.to_string().contains("secret-"), "{shown}");
        }
        let mut plain = json!({"title": "Deserialization", "count": 3, "none": null, "steps": ["a", "b"]});
        let before = plain.clone();
        assert!(!mask(&mut plain));
        assert_eq!(plain, before);
    }

    #[test]
    fn a_body_is_read_one_way_only() {
        let exposed = |body: &str| code(body.as_bytes()).map(|code| code.map(|code| code.expose().to_owned())).ok();
        assert_eq!(exposed(r#"{"extractionCode": "ABCD"}"#), Some(Some("ABCD".to_owned())));
        assert_eq!((exposed("{}"), exposed("")), (Some(None), Some(None)));
        assert_eq!(exposed(r#"{"extractionCode": ""}"#), Some(None));
        for bad in ["{", "7", r#"{"extractionCode": 7}"#, r#"{"extractionCode": "a", "extractionCode": "b"}"#] {
            assert_eq!(exposed(bad), None, "{bad}");
        }
    }
}
