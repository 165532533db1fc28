//! Whether a caller is still there. The server goes on with a request whose caller has left until it writes; the scanning
//! service is to learn of it sooner.

use std::cell::Cell;
use std::io::{Error, ErrorKind, Write as _};
use std::net;
use std::os::fd::AsFd as _;
use std::rc::Rc;

use tokio::net::TcpStream;
use tokio::time::{Duration, Instant};

use super::line::Use;

/// What may come before any answer, and is passed over by whoever reads (RFC 9110, 15.2).
const WORD: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
/// Whoever cannot be asked and sends no more is waited for as long: a program that only closed its sending side has most answers
/// by then, and one that has left (as proxies do, with all of the connection) holds no place at the service for longer.
const GRACE: Duration = Duration::from_secs(2);

/// A second handle to a caller's connection, kept with it. Cheap to clone.
#[derive(Clone)]
pub(in crate::gateway::web) struct Peer(Rc<Handle>);

struct Handle {
    connection: net::TcpStream,
    in_use: Use,
    was_asked: Cell<bool>,
    /// When it was first seen to send no more, where it could not be asked.
    silent_since: Cell<Option<Instant>>,
}

/// Where a caller is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway::web) enum Presence {
    Here,
    /// It sends no more: it may have left, or only have said all it had to say.
    Silent,
    /// It sends no more, and has just been asked whether it reads.
    Asked,
    Gone,
}

impl Peer {
    pub(super) fn of(connection: &TcpStream, in_use: Use) -> Option<Self> {
        let connection = connection.as_fd().try_clone_to_owned().ok()?.into();
        let (was_asked, silent_since) = (Cell::new(false), Cell::new(None));
        Some(Self(Rc::new(Handle { connection, in_use, was_asked, silent_since })))
    }

    /// A way to have the connection break.
    pub(super) fn reset(&self) -> Option<Reset> {
        self.0.connection.try_clone().ok().map(Reset)
    }

    /// Looks at the connection. A caller who has closed its side may only have said all it had to say, and read on. Nothing but
    /// an attempt to write tells that from one who has left: its system refuses what comes then. So it is sent a word once, where
    /// it `may_be_told` one. HTTP/1.0 has none: there, whoever has closed its side has left after [`GRACE`]. To be called while a
    /// request waits for its answer.
    pub(in crate::gateway::web) fn look(&self, may_be_told: bool) -> Presence {
        let handle = &*self.0;
        let seen = handle.seen();
        if seen != Presence::Silent {
            return seen;
        }
        if !may_be_told {
            let since = handle.silent_since.get().unwrap_or_else(Instant::now);
            handle.silent_since.set(Some(since));
            return if since.elapsed() >= GRACE { Presence::Gone } else { Presence::Here };
        }
        // Not into the middle of an answer before.
        if handle.was_asked.get() || handle.in_use.is_blocked() {
            return Presence::Here;
        }
        handle.was_asked.set(true);
        match (&handle.connection).write(WORD) {
            Ok(written) if written == WORD.len() => Presence::Asked,
            Ok(_) => Presence::Gone,
            Err(error) => told_by(&error),
        }
    }

    /// Looks without a word: in an answer that is on its way there is room for none. Whoever has not taken yet what waits to be
    /// written counts as there; it has a time of its own for that (`line`).
    pub(in crate::gateway::web) fn glance(&self) -> Presence {
        match self.0.seen() {
            Presence::Silent if self.0.in_use.is_blocked() => Presence::Here,
            seen => seen,
        }
    }
}

impl Handle {
    /// What can be told without a word.
    fn seen(&self) -> Presence {
        match self.connection.peek(&mut [0; 1]) {
            Ok(0) => {}
            Ok(_) => return Presence::Here,
            Err(error) => return told_by(&error),
        }
        if matches!(self.connection.take_error(), Ok(None)) { Presence::Silent } else { Presence::Gone }
    }
}

/// The means to end a connection so that its caller sees that it was cut.
pub(super) struct Reset(net::TcpStream);

impl Reset {
    /// The connection ends with a reset once all have let go of it; what is not sent by then is lost.
    pub(super) fn at_its_end(self) {
        // The handle of the standard library cannot be told this yet.
        if let Err(error) = TcpStream::from_std(self.0).and_then(|connection| connection.set_zero_linger()) {
            tracing::debug!(%error, "a cut answer ends like a whole one");
        }
    }
}

fn told_by(error: &Error) -> Presence {
    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) { Presence::Here } else { Presence::Gone }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use tokio::time::{sleep, timeout};

    use super::*;

    async fn pair() -> (TcpStream, TcpStream, Peer) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let caller = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let here = listener.accept().await.unwrap().0;
        let peer = Peer::of(&here, Use::default()).unwrap();
        (caller, here, peer)
    }

    async fn until(peer: &Peer, may_be_told: bool, wanted: Presence) {
        let looking = async {
            while peer.look(may_be_told) != wanted {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(Duration::from_secs(10), looking).await.unwrap();
    }

    #[tokio::test]
    async fn a_caller_that_sends_no_more_is_asked_once_and_is_there_as_long_as_it_reads() {
        let (mut caller, _here, peer) = pair().await;
        assert_eq!(peer.look(true), Presence::Here);
        caller.shutdown().await.unwrap();
        until(&peer, true, Presence::Asked).await;
        let mut word = vec![0; WORD.len()];
        caller.read_exact(&mut word).await.unwrap();
        assert_eq!(word, WORD);
        for _ in 0..20 {
            assert_eq!(peer.look(true), Presence::Here);
            sleep(Duration::from_millis(5)).await;
        }
        drop(caller);
    }

    #[tokio::test]
    async fn a_caller_that_has_left_is_gone_once_it_was_asked_or_has_broken_the_connection() {
        let (caller, _here, peer) = pair().await;
        drop(caller);
        until(&peer, true, Presence::Asked).await;
        until(&peer, true, Presence::Gone).await;
        let (caller, mut here, peer) = pair().await;
        here.write_all(b"unread").await.unwrap();
        caller.readable().await.unwrap();
        drop(caller);
        until(&peer, false, Presence::Gone).await;
    }

    #[tokio::test]
    async fn in_the_middle_of_an_answer_a_caller_that_sends_no_more_is_silent_and_is_sent_nothing() {
        let (mut caller, here, peer) = pair().await;
        assert_eq!(peer.glance(), Presence::Here);
        caller.shutdown().await.unwrap();
        here.readable().await.unwrap();
        for _ in 0..3 {
            assert_eq!(peer.glance(), Presence::Silent);
        }
        drop((here, peer));
        assert_eq!(caller.read_to_end(&mut Vec::new()).await.unwrap(), 0);
        let (caller, mut here, peer) = pair().await;
        here.write_all(b"unread").await.unwrap();
        caller.readable().await.unwrap();
        drop(caller);
        here.readable().await.unwrap();
        assert_eq!(peer.glance(), Presence::Gone, "it broke the connection");
    }

    #[tokio::test]
    async fn whoever_knows_no_such_word_is_sent_none_and_waited_for_for_a_moment() {
        let (mut caller, here, peer) = pair().await;
        caller.shutdown().await.unwrap();
        here.readable().await.unwrap();
        let silent = Instant::now();
        assert_eq!(peer.look(false), Presence::Here);
        until(&peer, false, Presence::Gone).await;
        assert!(silent.elapsed() >= GRACE, "{:?}", silent.elapsed());
        drop((here, peer));
        assert_eq!(caller.read_to_end(&mut Vec::new()).await.unwrap(), 0);
    }
}
