//! What holds for every call, in sentences: for the document's description and for the page.

use super::{About, Bounds};
use crate::gateway::domain::api_path::LONGEST_PATH;

/// One rule each.
pub(super) fn of(about: &About<'_>) -> Vec<String> {
    let Bounds { json_bytes, upload_bytes, uri_bytes, head_bytes, head_fields } = about.bounds;
    vec![
        "Errors: what is refused here is `application/problem+json` (RFC 9457) and has the fields of an ErrorResponse besides; \
         refusals of the scanning service pass in its own form. What is no HTTP at all (an address with \
         characters that have to be encoded, for one), or more than the server reads (96 headers, 128 KiB, an address of 64 KiB), is \
         refused with 400, 408 or 431 and an empty body."
            .to_owned(),
        format!(
            "Size: a path has at most {LONGEST_PATH} bytes, path and query together {uri_bytes} (414); headers have {head_bytes} \
             bytes in at most {head_fields} fields (431); a JSON body has {json_bytes} bytes, an upload {upload_bytes} (413)."
        ),
        "Pace: calls are counted by network, by caller and by company. `RateLimit-Policy` says what is allowed and `RateLimit` what \
         is left; 429, and 503 of the portal, say in `Retry-After` when another try makes sense."
            .to_owned(),
        "From a page of the portal: the session cookie goes along by itself. Every change needs the session's token besides, as \
         `X-CSRF-Token`; it is the value of the hidden field `csrf` in the forms of each page, `Sign out` for one."
            .to_owned(),
        "Uploads: name the `sha256` of the file in the query. It is compared on the way, and of a file that is another one, or of a \
         form that could be read in two ways, nothing is kept."
            .to_owned(),
        "Shares: people change and end what they made, administrators everybody's; API keys what API keys of the company made, access \
         tokens what the same token made. Anything else is 404. searchShares tells whole ids of shares that the caller made, API keys \
         those that API keys made, and administrators those besides that were made at the scanning service itself; others by ten \
         characters, which open nothing. It neither filters nor sorts by shareId. A share has at most as many chosen findings, and \
         ends at the latest, as in the portal's form; without expiredAt it ends then. A code has 8 to 64 letters and digits, \
         four of them different; however recipients type it, its capitals and the signs in it do not count. A share that is over is \
         not changed."
            .to_owned(),
        "Shared content: without the right code every id is answered alike, 403, whether there is such a share or not. Each call for a \
         share is a view, one for a finding or a chain only where no other came from the same network shortly before. Credentials in \
         texts are left out. Shares whose views are counted, or whose evidence is hidden, open at their page only."
            .to_owned(),
        "Ends: what still streams is cut off when the API key or the session of its call ends.".to_owned(),
    ]
}
