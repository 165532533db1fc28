//! What is counted in memory and written now and then.

use std::time::Duration;

use crate::platform::shutdown::Shutdown;

/// Something that keeps what is not written yet.
pub(super) trait Behind: Send + Sync + 'static {
    /// Writes what waits. What cannot be written waits on.
    fn flush(&self) -> impl Future<Output = ()> + Send;
}

/// Writes in the background once in `every`, and once more when the process ends.
pub(super) fn write_behind(book: impl Behind, every: Duration, shutdown: &Shutdown) {
    let end = shutdown.clone();
    shutdown.spawn(async move {
        loop {
            let goes_on = end.pause(every).await;
            book.flush().await;
            if !goes_on {
                return;
            }
        }
    });
}
