//! The picture of the open tab on its way to the page: one frame is under way, the newest waits, older ones are left out.
//! The browser hears that a frame is done when the page has painted it, so a slow line slows the browser, not the memory.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::Value;

/// How the way of a frame is judged: slower than this lowers the quality, faster than the other raises it.
const SLOW: Duration = Duration::from_millis(150);
const FAST: Duration = Duration::from_millis(50);
/// Quality changes at most this often, by this much.
const JUDGED_EVERY: Duration = Duration::from_secs(2);
const STEP: u8 = 10;
/// A frame begins with its number (4 bytes), and the width and height of the page in CSS pixels (2 bytes each), big endian.
const HEAD: usize = 8;

/// A picture of the tab.
pub(super) struct Frame {
    /// What the browser wants to hear when the frame is done.
    pub(super) token: i64,
    bytes: Vec<u8>,
}

impl Frame {
    /// Reads `Page.screencastFrame`.
    pub(super) fn read(params: &Value) -> Option<Self> {
        let token = params.get("sessionId")?.as_i64()?;
        let size = |key: &str| params.pointer(key).and_then(Value::as_f64).unwrap_or_default();
        let (width, height) = (size("/metadata/deviceWidth"), size("/metadata/deviceHeight"));
        let mut bytes = vec![0; HEAD];
        STANDARD.decode_vec(params.get("data")?.as_str()?, &mut bytes).ok()?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits")]
        let words = [width, height].map(|length| (length.clamp(0.0, 65535.0) as u16).to_be_bytes());
        bytes.get_mut(4..HEAD)?.copy_from_slice(words.as_flattened());
        Some(Self { token, bytes })
    }
}

/// Frames of one link.
pub(super) struct Screen {
    next: u32,
    under_way: Option<(u32, i64, Instant)>,
    newest: Option<Frame>,
    quality: u8,
    bounds: (u8, u8),
    /// How long frames took lately, smoothed.
    way: Duration,
    judged: Instant,
}

impl Screen {
    pub(super) fn new(bounds: (u8, u8), now: Instant) -> Self {
        let quality = bounds.0.midpoint(bounds.1);
        Self { next: 0, under_way: None, newest: None, quality, bounds, way: FAST, judged: now }
    }

    /// JPEG quality to ask for.
    pub(super) const fn quality(&self) -> u8 {
        self.quality
    }

    /// Takes a frame in. Gives what to send now, and the token of a frame that is left out.
    pub(super) fn arrived(&mut self, frame: Frame, now: Instant) -> (Option<Bytes>, Option<i64>) {
        if self.under_way.is_none() {
            return (self.send(frame, now), None);
        }
        (None, self.newest.replace(frame).map(|older| older.token))
    }

    /// The page has painted frame `number`. Gives the token of that frame, and what to send next.
    pub(super) fn painted(&mut self, number: u32, now: Instant) -> Option<(i64, Option<Bytes>)> {
        let (_, token, sent) = self.under_way.take_if(|(under_way, ..)| *under_way == number)?;
        self.way = (self.way * 7 + now.saturating_duration_since(sent)) / 8;
        let next = self.newest.take().and_then(|frame| self.send(frame, now));
        Some((token, next))
    }

    /// Another tab, or the page was gone: what is under way is nobody's any more.
    pub(super) fn forget(&mut self) {
        self.under_way = None;
        self.newest = None;
    }

    /// Whether the quality is another one from now on.
    pub(super) fn judge(&mut self, now: Instant) -> bool {
        if now.saturating_duration_since(self.judged) < JUDGED_EVERY {
            return false;
        }
        self.judged = now;
        let wanted = match self.way {
            way if way > SLOW => self.quality.saturating_sub(STEP),
            way if way < FAST => self.quality.saturating_add(STEP),
            _ => self.quality,
        };
        let wanted = wanted.clamp(self.bounds.0, self.bounds.1);
        std::mem::replace(&mut self.quality, wanted) != wanted
    }

    fn send(&mut self, mut frame: Frame, now: Instant) -> Option<Bytes> {
        self.next = self.next.wrapping_add(1);
        frame.bytes.get_mut(..4)?.copy_from_slice(&self.next.to_be_bytes());
        self.under_way = Some((self.next, frame.token, now));
        Some(Bytes::from(frame.bytes))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn frame(token: i64) -> Frame {
        let params = json!({"sessionId": token, "data": "/9j/", "metadata": {"deviceWidth": 1280, "deviceHeight": 800.5}});
        Frame::read(&params).unwrap()
    }

    #[test]
    fn one_frame_is_under_way_and_the_newest_waits() {
        let now = Instant::now();
        let mut screen = Screen::new((40, 80), now);
        let (sent, dropped) = screen.arrived(frame(1), now);
        assert_eq!(sent.unwrap(), [0, 0, 0, 1, 5, 0, 3, 32, 0xff, 0xd8, 0xff][..]);
        assert_eq!(dropped, None);
        assert_eq!(screen.arrived(frame(2), now), (None, None));
        assert_eq!(screen.arrived(frame(3), now), (None, Some(2)), "the older one is left out");
        assert!(screen.painted(7, now).is_none(), "a frame that was never sent");
        let (token, next) = screen.painted(1, now).unwrap();
        assert_eq!(token, 1);
        assert_eq!(next.unwrap()[..4], [0, 0, 0, 2]);
        assert!(screen.painted(1, now).is_none(), "a frame is done once");
        assert_eq!(screen.painted(2, now), Some((3, None)));
    }

    #[test]
    fn the_quality_follows_the_line_within_its_bounds() {
        let mut now = Instant::now();
        let mut screen = Screen::new((40, 80), now);
        let mut qualities = Vec::new();
        for (way, rounds) in [(400, 60), (1, 120)] {
            for _ in 0..rounds {
                screen.arrived(frame(1), now);
                now += Duration::from_millis(way);
                screen.painted(screen.next, now);
                now += Duration::from_millis(100);
                if screen.judge(now) {
                    qualities.push(screen.quality());
                }
            }
        }
        assert_eq!(qualities, [50, 40, 50, 60, 70, 80]);
    }
}
