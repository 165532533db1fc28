//! The picture of the tab that is shown: asked for while a page is connected, in the size of that page.

use std::time::Instant;

use bytes::Bytes;
use serde_json::{Value, json};

use super::Session;
use crate::scanner::browser::message::ToPage;
use crate::scanner::browser::screen::Frame;

/// The size of the page's picture, in CSS pixels, and device pixels for one of them.
pub(super) struct View {
    width: u32,
    height: u32,
    scale: f64,
}

impl Default for View {
    fn default() -> Self {
        Self { width: 1280, height: 800, scale: 1.0 }
    }
}

impl Session {
    pub(super) fn frame(&mut self, session: &str, params: &Value) {
        let Some(frame) = Frame::read(params) else { return };
        if self.casting.as_deref() != Some(session) {
            return;
        }
        let (frame, dropped) = self.screen.arrived(frame, Instant::now());
        self.done(dropped);
        self.show(frame);
    }

    /// Lets the browser make the next picture.
    pub(super) fn done(&self, token: Option<i64>) {
        if let (Some(token), Some(session)) = (token, &self.casting) {
            self.devtools.tell(session, "Page.screencastFrameAck", json!({ "sessionId": token }));
        }
    }

    pub(super) fn show(&mut self, frame: Option<Bytes>) {
        if let Some(frame) = frame {
            self.send(ToPage::Frame(frame));
        }
    }

    pub(super) fn resize(&mut self, width: u32, height: u32, scale: f64) {
        let view = View {
            width: width.clamp(1, self.settings.max_width),
            height: height.clamp(1, self.settings.max_height),
            scale: if scale.is_finite() { scale.clamp(1.0, 2.0) } else { 1.0 },
        };
        self.view = view;
        for tab in &self.tabs {
            self.devtools.tell(&tab.session, "Emulation.setDeviceMetricsOverride", self.view.metrics());
        }
        self.stop_casting();
    }

    /// Asks for the picture of the tab that is shown, and of no other.
    pub(super) fn cast(&mut self) {
        let wanted = self.link.as_ref().and_then(|_| self.active_tab()).map(|tab| tab.session.clone());
        if wanted == self.casting {
            return;
        }
        self.stop_casting();
        let Some(session) = wanted else { return };
        let picture = json!({
            "format": "jpeg", "quality": self.screen.quality(), "everyNthFrame": 1,
            "maxWidth": self.view.pixels(self.view.width), "maxHeight": self.view.pixels(self.view.height),
        });
        self.devtools.tell(&session, "Page.bringToFront", json!({}));
        self.devtools.tell(&session, "Page.startScreencast", picture);
        self.casting = Some(session);
    }

    pub(super) fn stop_casting(&mut self) {
        self.screen.forget();
        if let Some(session) = self.casting.take() {
            self.devtools.tell(&session, "Page.stopScreencast", json!({}));
        }
    }
}

impl View {
    pub(super) fn metrics(&self) -> Value {
        json!({"width": self.width, "height": self.height, "deviceScaleFactor": self.scale, "mobile": false})
    }

    fn pixels(&self, length: u32) -> f64 {
        (f64::from(length) * self.scale).ceil()
    }
}
