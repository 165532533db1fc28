//! Calls into libraries that give up with a panic on damaged or crafted bytes. What is caught here is an outcome like any
//! other: nothing of it is printed or logged. A panic of our own is a fault and does not go through here.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

static QUIET: Once = Once::new();

thread_local! {
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// What `work` gave; `None` when it gave up. Whatever it had borrowed may be half-changed then: do not go on with it.
pub fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    // While a thread unwinds, nobody may change what is printed.
    if !std::thread::panicking() {
        QUIET.call_once(|| {
            let before = take_hook();
            set_hook(Box::new(move |info| {
                if !is_caught() {
                    before(info);
                }
            }));
        });
    }
    let outer = IS_CAUGHT.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    IS_CAUGHT.set(outer);
    outcome.ok()
}

/// Whether a panic of this thread would be caught here now.
#[must_use]
pub(super) fn is_caught() -> bool {
    IS_CAUGHT.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gives_up_gives_nothing_and_the_thread_goes_on() {
        assert_eq!(caught(|| 1), Some(1));
        let inner = || caught(|| std::hint::black_box(Vec::<u8>::new())[0]);
        assert_eq!(caught(inner), Some(None));
        assert!(!is_caught());
    }
}
