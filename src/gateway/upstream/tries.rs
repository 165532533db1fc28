//! Further tries of a request that may be sent again: so many, each after twice the wait of the one before (WIRE reading rule 10).
//! Whether one may help is for whoever makes them to see.

use std::time::Duration;

use tokio::time::sleep;

/// Wait before the first further try.
const FIRST_WAIT: Duration = Duration::from_millis(50);

/// The tries that are left of one request.
pub(crate) struct Tries {
    left: u32,
    wait: Duration,
}

impl Tries {
    pub(crate) const fn new(left: u32) -> Self {
        Self { left, wait: FIRST_WAIT }
    }

    pub(crate) const fn is_left(&self) -> bool {
        self.left > 0
    }

    /// Waits until it is time for the next.
    pub(crate) async fn next(&mut self) {
        self.left = self.left.saturating_sub(1);
        sleep(self.wait).await;
        self.wait *= 2;
    }
}
