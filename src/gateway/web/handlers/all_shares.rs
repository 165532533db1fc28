//! All shares of a company: listed for its administrators, and those of a person ended.

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Deserialize;

use crate::gateway::services::Services;
use crate::gateway::services::all_shares::Filter;
use crate::gateway::web::error::WebError;
use crate::gateway::web::extract::{Admin, Form, Paging, Query};
use crate::gateway::web::page::{Flash, Page};
use crate::gateway::web::urls;
use crate::gateway::web::views::all_shares::{AskEnd, List};

#[derive(Deserialize)]
pub(in crate::gateway) struct Wanted {
    #[serde(default)]
    show: String,
    #[serde(default)]
    maker: String,
}

pub(in crate::gateway) async fn list(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
    Query(wanted): Query<Wanted>,
    Query(paging): Query<Paging>,
) -> Result<HttpResponse, WebError> {
    let filter = Filter {
        breaching: wanted.show == "breaches",
        living: wanted.show == "living",
        maker: Some(wanted.maker).filter(|maker| !maker.is_empty()),
    };
    let found = services.administration.shares.list(&actor, &filter, paging.number()).await?;
    page.show(&List::new(page.chrome("All shares", "admin"), &found, &filter, paging.number()))
}

#[derive(Deserialize)]
pub(in crate::gateway) struct OfMaker {
    maker: String,
}

pub(in crate::gateway) async fn ask_end(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
    Query(OfMaker { maker }): Query<OfMaker>,
) -> Result<HttpResponse, WebError> {
    let maker = services.administration.shares.maker(&actor, &maker).await?;
    page.show(&AskEnd::new(page.chrome("End all shares of a person", "admin"), &maker))
}

pub(in crate::gateway) async fn end(
    page: Page,
    Admin(actor): Admin,
    services: Data<Services>,
    Form(OfMaker { maker }): Form<OfMaker>,
) -> Result<HttpResponse, WebError> {
    let done = services.administration.shares.end_of(&actor, &maker).await?;
    let news = if done.untold > 0 { Flash::SharesEndedHere } else { Flash::SharesEnded };
    Ok(page.go_with_news(urls::ALL_SHARES, news))
}
