//! Carries messages from Redis to the subscribers in this process, for as long as the process lives. Asks now and then
//! whether the other side is still there: a connection that only listens would not notice.

use std::time::Duration;

use futures_util::StreamExt as _;
use redis::RedisError;
use redis::aio::PubSub;

use super::message::Board;
use super::redis::words;
use super::redis_way::Way;

/// Longest wait before the connection is tried again.
const SLOWEST_RETRY: Duration = Duration::from_secs(1);
const FASTEST_RETRY: Duration = Duration::from_millis(50);
/// A connection that carried no message for this long is asked whether it is there.
const QUIET: Duration = Duration::from_secs(5);

/// The connection that listens.
pub(super) struct Listener {
    pub(super) way: Way,
    pub(super) board: Board,
    pub(super) prefix: String,
    /// For connecting, and for one answer.
    pub(super) timeout: Duration,
}

impl Listener {
    pub(super) async fn run(mut self) {
        let mut wait = FASTEST_RETRY;
        loop {
            match self.connect().await {
                Ok(messages) => {
                    wait = FASTEST_RETRY;
                    self.listen(messages).await;
                    tracing::warn!("the store's messages were cut off");
                }
                Err(error) => tracing::warn!(error = words(&error), "the store's messages are cut off; trying again"),
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(SLOWEST_RETRY);
        }
    }

    async fn connect(&mut self) -> Result<PubSub, RedisError> {
        let connected = async {
            let server = self.way.server().await?;
            let mut messages = server.get_async_pubsub().await?;
            messages.psubscribe(format!("{}*", self.prefix)).await?;
            Ok::<_, RedisError>(messages)
        };
        let slow = |_| RedisError::from(std::io::Error::from(std::io::ErrorKind::TimedOut));
        tokio::time::timeout(self.timeout, connected).await.map_err(slow)?
    }

    /// Listens until the connection breaks.
    async fn listen(&self, messages: PubSub) {
        // What was sent before this moment did not arrive.
        self.board.post_missed();
        let (mut asking, mut messages) = messages.split();
        loop {
            match tokio::time::timeout(QUIET, messages.next()).await {
                Ok(Some(message)) => {
                    if let Some(channel) = message.get_channel_name().strip_prefix(&self.prefix) {
                        self.board.post(channel, message.get_payload_bytes());
                    }
                }
                Ok(None) => break,
                Err(_) => match tokio::time::timeout(self.timeout, asking.ping::<redis::Value>()).await {
                    Ok(Ok(_)) => {}
                    Ok(Err(_)) | Err(_) => break,
                },
            }
        }
        self.board.post_missed();
    }
}
