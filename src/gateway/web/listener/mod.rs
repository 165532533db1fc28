//! Connections of callers. `actix_web::HttpServer` would do, but for three things it has no settings for: a time for the head
//! of every request and not of the first alone, an end for callers who do not take their answer, and `100 Continue` only for
//! a body that is wanted. So its parts are put together here, with a line (`line`) and a desk (`desk`) of our own between
//! them. Knows nothing of what is asked.

mod body;
mod desk;
mod line;
mod peer;
mod target;

use std::fmt::Debug;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use actix_http::body::MessageBody;
use actix_http::error::DispatchError;
use actix_http::{Extensions, HttpService, Request, Response};
use actix_server::Server;
use actix_service::{IntoServiceFactory, Service, ServiceFactory, ServiceFactoryExt as _, fn_service, map_config};
use actix_web::Error;
use actix_web::dev::AppConfig;
#[cfg(target_os = "linux")]
use socket2::SockRef;
use tokio::net::TcpStream;

use self::desk::{Desk, Held};
use self::line::Line;
pub(super) use self::peer::{Peer, Presence};
use crate::config::gateway::Server as Settings;

/// So many bytes that were not sent yet are enough to wait for the caller.
#[cfg(target_os = "linux")]
const UNSENT: u32 = 16 << 10;

/// How long a connection that is to be closed may take to take it in.
const GOODBYE: Duration = Duration::from_secs(1);

/// A server on `listener` with one app a worker, not yet awaited, and its address. The caller handles signals.
pub(in crate::gateway) fn serve<F, I, S, B>(
    listener: TcpListener,
    settings: &Settings,
    app: F,
) -> std::io::Result<(Server, SocketAddr)>
where
    F: Fn() -> I + Send + Clone + 'static,
    I: IntoServiceFactory<S, Request>,
    S: ServiceFactory<Request, Config = AppConfig> + 'static,
    S::Error: Into<Error> + 'static,
    S::InitError: Debug,
    S::Response: Into<Response<B>> + 'static,
    S::Service: 'static,
    <S::Service as Service<Request>>::Future: 'static,
    B: MessageBody + 'static,
{
    let address = listener.local_addr()?;
    let connection = settings.connection;
    // Connections have this from their listener. Else the system takes megabytes before it says that a caller takes nothing, and
    // takes no more until a third of them are gone: whoever is slow would look like whoever stands still.
    #[cfg(target_os = "linux")]
    SockRef::from(&listener).set_tcp_notsent_lowat(UNSENT)?;
    let mut server = Server::build().disable_signals().shutdown_timeout(settings.shutdown_seconds);
    if settings.workers > 0 {
        server = server.workers(settings.workers);
    }
    let ending = server.graceful_shutdown_signal();
    let server = server.listen("portal", listener, move || {
        let ending = ending.clone();
        let app = app().into_factory().map_err(|error| error.into().error_response());
        let desk = Desk::<_, B>::new(connection);
        let http = HttpService::build()
            .graceful_shutdown_signal(move || {
                let ending = ending.clone();
                async move { ending.notified().await }
            })
            .keep_alive(Duration::from_secs(connection.keep_alive_seconds))
            .client_request_timeout(Duration::from_secs(connection.head_seconds))
            .client_disconnect_timeout(GOODBYE)
            .local_addr(address)
            .expect(desk.expecting())
            .on_connect_ext(|line: &Line<TcpStream>, data: &mut Extensions| {
                data.insert(line.use_of_it());
                if let Some(peer) = Peer::of(line.connection(), line.use_of_it()) {
                    data.insert(peer);
                }
            })
            .h1::<_, Held<B>>(desk.serving(map_config(app, |()| AppConfig::default())));
        fn_service(move |stream: TcpStream| async move {
            // Without it small answers wait for an acknowledgement; a connection that refuses is over anyway.
            let _ = stream.set_nodelay(true);
            let peer = stream.peer_addr().ok();
            Ok::<_, DispatchError>((Line::new(stream, connection), peer))
        })
        .and_then(http)
    })?;
    Ok((server.run(), address))
}
