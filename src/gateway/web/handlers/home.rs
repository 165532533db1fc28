//! The first page.

use actix_web::HttpResponse;
use actix_web::web::Data;

use crate::gateway::services::Services;
use crate::gateway::web::error::WebError;
use crate::gateway::web::extract::SignedIn;
use crate::gateway::web::page::Page;
use crate::gateway::web::views::home::Home;
use crate::gateway::web::views::signin::Welcome;

/// For signed-in people what goes on; for others what this is.
pub(in crate::gateway) async fn show(
    page: Page,
    signed_in: Result<SignedIn, WebError>,
    services: Data<Services>,
) -> Result<HttpResponse, WebError> {
    let Ok(SignedIn(actor)) = signed_in else {
        return page.show(&Welcome { chrome: page.chrome("Welcome", "home") });
    };
    let summary = services.home.summary(&actor).await?;
    page.show(&Home::new(page.chrome("Home", "home"), &summary))
}
