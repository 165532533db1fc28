//! One session: its contexts, its tabs, the link to its page, its limits. A task of its own handles one thing at a time; it
//! never waits for a page, only for the browser. When it ends, its contexts end with all they kept.

mod page;
mod picture;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, timeout};

use self::picture::View;
use super::address;
use super::devtools::{CommandError, DevTools, Event};
use super::message::{Incoming, TabInfo, ToPage, Told};
use super::screen::Screen;
use super::tabs::{self, Context, Tab};
use crate::config::scanner::Browser as Settings;
use crate::platform::clock::{Clock, Timestamp};
use crate::platform::shutdown::Shutdown;

/// How often limits are looked at.
const TICK: Duration = Duration::from_millis(250);
/// How long a new tab may take to appear.
const APPEARS: Duration = Duration::from_secs(5);
const IDLE: &str = "This browser was not used for a while and has ended. Open a new one to go on.";
const LIFE: &str = "This browser has reached the end of its time. Open a new one to go on.";
const LEFT: &str = "The page of this browser was closed.";
const STOPPED: &str = "The service is ending. Open a new browser in a little while.";
const CRASHED: &str = "The browser has ended unexpectedly. Open a new one to go on.";

/// What a session needs from around it.
pub(super) struct Surroundings {
    pub(super) devtools: DevTools,
    pub(super) user_agent: String,
    pub(super) settings: Arc<Settings>,
    pub(super) clock: Clock,
}

pub(super) struct Session {
    pub(super) devtools: DevTools,
    pub(super) settings: Arc<Settings>,
    /// The first is the one new tabs open in.
    pub(super) contexts: Vec<Context>,
    pub(super) tabs: Vec<Tab>,
    /// Target of the tab that is shown.
    pub(super) active: Option<String>,
    user_agent: String,
    clock: Clock,
    events: mpsc::Receiver<Event>,
    inbox: mpsc::Receiver<Incoming>,
    link: Option<Link>,
    screen: Screen,
    /// The attached target whose picture is asked for.
    casting: Option<String>,
    view: View,
    limits: Limits,
    told: Option<(Vec<TabInfo>, Option<String>)>,
    /// A title may have changed: the browser does not tell of it by itself.
    is_curious: bool,
}

struct Link {
    number: u64,
    out: mpsc::Sender<ToPage>,
}

struct Limits {
    began: Timestamp,
    used: Timestamp,
    /// Since when no page is connected.
    absent: Option<Timestamp>,
    was_linked: bool,
    told: (u64, u64),
}

impl Session {
    /// Makes the first context with an empty tab.
    pub(super) async fn begin(around: Surroundings, inbox: mpsc::Receiver<Incoming>) -> Result<Self, CommandError> {
        let Surroundings { devtools, user_agent, settings, clock } = around;
        let context = Context::make(&devtools).await?;
        let events = devtools.listen(&context.id);
        let now = clock.now();
        let mut this = Self {
            contexts: vec![context],
            tabs: Vec::new(),
            active: None,
            user_agent,
            events,
            inbox,
            link: None,
            screen: Screen::new((settings.quality_min, settings.quality_max), Instant::now()),
            casting: None,
            view: View::default(),
            limits: Limits { began: now, used: now, absent: Some(now), was_linked: false, told: (0, 0) },
            told: None,
            is_curious: false,
            devtools,
            settings,
            clock,
        };
        let home = this.home();
        if let Err(error) = this.open(&home, address::BLANK).await {
            this.dispose();
            return Err(error);
        }
        Ok(this)
    }

    /// Lives until a limit, the service or the browser ends it.
    pub(super) async fn run(mut self, shutdown: Shutdown) {
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let words = loop {
            tokio::select! {
                event = self.events.recv() => match event {
                    Some(event) => self.happened(event),
                    None => break CRASHED,
                },
                message = self.inbox.recv() => match message {
                    Some(message) => self.came(message).await,
                    None => break STOPPED,
                },
                _ = tick.tick() => if let Some(words) = self.tick() {
                    break words;
                },
                () = shutdown.begun() => break STOPPED,
            }
            self.read_title().await;
            self.cast();
            self.tell_tabs();
        };
        self.tell(&Told::Ended { words });
        self.dispose();
    }

    /// The context new tabs open in.
    pub(super) fn home(&self) -> String {
        self.contexts.first().map(|context| context.id.clone()).unwrap_or_default()
    }

    pub(super) fn tab(&self, target: &str) -> Option<&Tab> {
        self.tabs.iter().find(|tab| tab.target == target)
    }

    pub(super) fn active_tab(&self) -> Option<&Tab> {
        self.active.as_deref().and_then(|target| self.tab(target))
    }

    /// Opens a tab, waits until it is there, and shows it.
    pub(super) async fn open(&mut self, context: &str, url: &str) -> Result<(), CommandError> {
        let target = tabs::open(&self.devtools, context, url).await?;
        let appears = async {
            while self.tab(&target).is_none() {
                let Some(event) = self.events.recv().await else { return Err(CommandError::Gone) };
                self.happened(event);
            }
            Ok(())
        };
        timeout(APPEARS, appears).await.unwrap_or(Err(CommandError::Slow("Target.createTarget")))?;
        self.active = Some(target);
        Ok(())
    }

    /// Closes a tab; a further context without tabs ends with all it kept.
    pub(super) fn close(&mut self, target: &str) {
        self.devtools.tell("", "Target.closeTarget", json!({ "targetId": target }));
        self.closed(|tab| tab.target == target);
    }

    fn closed(&mut self, which: impl Fn(&Tab) -> bool) {
        self.tabs.retain(|tab| !which(tab));
        if self.active_tab().is_none() {
            self.active = self.tabs.last().map(|tab| tab.target.clone());
        }
        let home = self.home();
        let (kept, ended): (Vec<_>, Vec<_>) = std::mem::take(&mut self.contexts)
            .into_iter()
            .partition(|context| context.id == home || self.tabs.iter().any(|tab| tab.context == context.id));
        self.contexts = kept;
        for context in ended {
            tabs::dispose(&self.devtools, &context.id);
        }
    }

    fn dispose(&mut self) {
        for context in self.contexts.drain(..) {
            tabs::dispose(&self.devtools, &context.id);
        }
    }

    fn happened(&mut self, event: Event) {
        let Event { target_session, method, params } = event;
        match method.as_str() {
            "Target.attachedToTarget" => self.appeared(&params),
            "Target.detachedFromTarget" => {
                let session = params.get("sessionId").and_then(Value::as_str).unwrap_or_default();
                self.closed(|tab| tab.session == session);
            }
            "Target.targetInfoChanged" => self.changed(&params),
            "Page.screencastFrame" => self.frame(&target_session, &params),
            "Page.javascriptDialogOpening" => self.dialog(&target_session, &params),
            "Page.domContentEventFired" | "Page.loadEventFired" => self.is_curious = true,
            "Page.downloadWillBegin" => self.say("This page offered a file. Files are not taken here."),
            "Page.frameStartedLoading" | "Page.frameStoppedLoading" => {
                let frame = params.get("frameId").and_then(Value::as_str);
                if let Some(tab) = self.tabs.iter_mut().find(|tab| Some(tab.target.as_str()) == frame) {
                    tab.loading = method == "Page.frameStartedLoading";
                }
            }
            _ => {
                if let Some(tab) = self.tabs.iter_mut().find(|tab| tab.session == target_session) {
                    tab.headers.take_in(&method, &params);
                }
            }
        }
    }

    /// A page that waits to be taken in: one of ours, or one that a page of ours opened.
    fn appeared(&mut self, params: &Value) {
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let target = text("/targetInfo/targetId");
        if self.tabs.len() >= self.settings.tabs {
            self.devtools.tell("", "Target.closeTarget", json!({ "targetId": target }));
            self.say("There are too many tabs. Close one first.");
            return;
        }
        let mut tab = Tab {
            target: target.clone(),
            session: text("/sessionId"),
            context: text("/targetInfo/browserContextId"),
            url: String::new(),
            title: String::new(),
            loading: false,
            headers: super::capture::Headers::default(),
        };
        tab.update(params.get("targetInfo").unwrap_or(&Value::Null));
        tabs::take_in(&self.devtools, &tab.session, &self.user_agent, &self.view.metrics());
        self.tabs.push(tab);
        self.active = Some(target);
    }

    fn changed(&mut self, params: &Value) {
        let Some(info) = params.get("targetInfo") else { return };
        let target = info.get("targetId").and_then(Value::as_str).unwrap_or_default();
        let Some(tab) = self.tabs.iter_mut().find(|tab| tab.target == target) else { return };
        tab.update(info);
        if let Some(context) = self.contexts.iter_mut().find(|context| context.id == tab.context) {
            context.visited(&tab.url);
        }
        if !address::may_stay(&tab.url) {
            let target = tab.target.clone();
            self.close(&target);
            self.say("A page went to an address that is not opened here. Its tab was closed.");
        }
    }

    /// Gives why the session ends now.
    fn tick(&mut self) -> Option<&'static str> {
        let now = self.clock.now();
        let left = |since: Timestamp, seconds: u64| Duration::from_secs(seconds).saturating_sub(now.since(since));
        let (idle, life) =
            (left(self.limits.used, self.settings.idle_seconds), left(self.limits.began, self.settings.life_seconds));
        let patience = if self.limits.was_linked { self.settings.absent_seconds } else { self.settings.open_seconds };
        if life.is_zero() {
            return Some(LIFE);
        }
        if idle.is_zero() {
            return Some(IDLE);
        }
        if self.limits.absent.is_some_and(|since| left(since, patience).is_zero()) {
            return Some(LEFT);
        }
        let told = (idle.as_secs(), life.as_secs());
        if told != self.limits.told {
            self.limits.told = told;
            self.is_curious = true;
            self.tell(&Told::Time { idle: told.0, life: told.1 });
        }
        if self.screen.judge(Instant::now()) {
            self.stop_casting();
        }
        None
    }

    async fn read_title(&mut self) {
        if !std::mem::take(&mut self.is_curious) || self.link.is_none() {
            return;
        }
        let Some(target) = self.active.clone() else { return };
        if let Ok(told) = self.devtools.call("", "Target.getTargetInfo", json!({ "targetId": target })).await {
            self.changed(&told);
        }
    }

    fn tell_tabs(&mut self) {
        let now = (self.tabs.iter().map(Tab::info).collect::<Vec<_>>(), self.active.clone());
        if self.link.is_some() && self.told.as_ref() != Some(&now) {
            self.tell(&Told::Tabs { tabs: now.0.clone(), active: now.1.clone() });
            self.told = Some(now);
        }
    }

    pub(super) fn say(&mut self, words: &str) {
        self.tell(&Told::Status { words: words.to_owned() });
    }

    fn tell(&mut self, told: &Told) {
        if self.link.is_some()
            && let Ok(text) = serde_json::to_string(told)
        {
            self.send(ToPage::Text(text));
        }
    }

    /// A page that does not take what it is sent is let go; it may come back.
    fn send(&mut self, message: ToPage) {
        if self.link.as_ref().is_some_and(|link| link.out.try_send(message).is_err()) {
            self.unlink();
        }
    }

    fn is_linked(&self, number: u64) -> bool {
        self.link.as_ref().is_some_and(|link| link.number == number)
    }

    fn unlink(&mut self) {
        self.link = None;
        self.limits.absent = Some(self.clock.now());
    }
}
