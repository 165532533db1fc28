//! What a walk collects about the code of an artifact: its classes, and what starts them.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::graph::Graph;
use super::paths::Paths;
use crate::config::scanner::CallGraph as Bounds;
use crate::scanner::engine::budget::Budget;
use crate::scanner::engine::xml_text::decoded;

/// Servlets and patterns of one descriptor.
const MOST_MAPPED: usize = 2000;

/// The code of an artifact.
#[derive(Debug)]
pub(in crate::scanner::engine) struct Code {
    pub(in crate::scanner::engine) graph: Graph,
    /// Paths of archives, `app.war!/WEB-INF/lib/x.jar`; classes name their archive by place.
    pub(in crate::scanner::engine) archives: Vec<String>,
    mains: Vec<String>,
    mapped: Vec<(String, String)>,
    /// Whether a configuration names classes to make.
    pub(in crate::scanner::engine) is_wired: bool,
    /// Whether the artifact itself is an application: it has classes where applications have them, or libraries inside.
    is_application: bool,
}

impl Code {
    pub(in crate::scanner::engine) fn new(bounds: Bounds) -> Self {
        let (archives, mains, mapped) = (Vec::new(), Vec::new(), Vec::new());
        Self { graph: Graph::new(bounds), archives, mains, mapped, is_wired: false, is_application: false }
    }

    /// The bounds it was made with.
    pub(in crate::scanner::engine) const fn bounds(&self) -> &Bounds {
        &self.graph.bounds
    }

    /// The place of the archive at `path`.
    pub(in crate::scanner::engine) fn archive(&mut self, path: &str) -> u32 {
        self.archives.push(path.to_owned());
        u32::try_from(self.archives.len() - 1).unwrap_or(u32::MAX)
    }

    /// Notes that the artifact carries libraries.
    pub(in crate::scanner::engine) fn carries(&mut self) {
        self.is_application = true;
    }

    /// The main classes of the artifact's own manifest.
    pub(in crate::scanner::engine) fn manifest(&mut self, content: &[u8]) {
        let text = String::from_utf8_lossy(content).replace("\r\n", "\n").replace("\n ", "");
        let main = text.split("\n\n").next().unwrap_or_default();
        for line in main.lines() {
            if let Some((name, class)) = line.split_once(':')
                && matches!(name, "Main-Class" | "Start-Class")
            {
                self.mains.push(class.trim().to_owned());
            }
        }
    }

    /// An XML file of the application: the deployment descriptor, or beans of a Spring context.
    pub(in crate::scanner::engine) fn xml(&mut self, name: &str, content: &[u8]) {
        let text = decoded(content);
        if name == "WEB-INF/web.xml" {
            self.is_application = true;
            self.web_xml(&text);
        } else {
            self.is_wired |= text.contains("springframework.org/sch");
        }
    }

    fn web_xml(&mut self, text: &str) {
        let mut reader = Reader::from_str(text);
        let (mut field, mut name, mut classes, mut patterns) = (String::new(), String::new(), Vec::new(), Vec::new());
        loop {
            match reader.read_event() {
                Ok(Event::Start(start)) => start.local_name().as_ref().clone_into(&mut field),
                Ok(Event::Text(text)) => {
                    let text = text.trim().to_owned();
                    match field.as_str() {
                        _ if text.is_empty() => {}
                        "servlet-name" | "filter-name" => name = text,
                        "servlet-class" | "filter-class" => classes.push((name.clone(), text)),
                        "url-pattern" => patterns.push((name.clone(), text)),
                        _ => {}
                    }
                }
                Ok(Event::End(_)) => field.clear(),
                Ok(Event::Eof) | Err(_) => break,
                Ok(_) => {}
            }
            if classes.len() + patterns.len() > MOST_MAPPED {
                self.graph.is_cut = true;
                break;
            }
        }
        for (servlet, class) in classes {
            let pattern =
                patterns.iter().find(|(name, _)| *name == servlet).map_or(String::new(), |(_, pattern)| pattern.clone());
            self.mapped.push((class, pattern));
        }
    }

    /// Follows all calls from all entry points, as long as there is time.
    pub(in crate::scanner::engine) fn paths(&self, budget: &Budget<'_>) -> Paths<'_> {
        let any_main = self.mains.is_empty() && self.is_application;
        Paths::search(&self.graph, (&self.mains, any_main), &self.mapped, budget)
    }
}
