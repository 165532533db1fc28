//! What an analysis gives: findings without the task they belong to, and what was looked at.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::contract::chains::ChainStep;
use crate::contract::components::ComponentRow;
use crate::contract::results::{Component, Confidence, Evidence, FixSuggestion, Reachability, Severity};
use crate::contract::tasks::ScanSummary;

/// The outcome of analysing one artifact.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::scanner) struct Analysis {
    /// Most severe first, then by component and id; the same input gives the same order.
    pub(in crate::scanner) findings: Vec<Finding>,
    /// Every component that was identified, by path; `vul_ids` are fingerprints of `findings`.
    pub(in crate::scanner) components: Vec<ComponentRow>,
    /// Most severe first.
    pub(in crate::scanner) chains: Vec<Chain>,
    pub(in crate::scanner) summary: ScanSummary,
}

/// A path from an HTTP entry point to vulnerable code.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::scanner) struct Chain {
    /// 64 hexadecimal characters, stable over scans: of its steps and its finding.
    pub(in crate::scanner) fingerprint: String,
    /// The fingerprint of the finding it leads to.
    pub(in crate::scanner) finding: String,
    /// From the entry point to the vulnerable code.
    pub(in crate::scanner) steps: Vec<ChainStep>,
}

/// One vulnerable component and one flaw of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::scanner) struct Finding {
    /// 64 hexadecimal characters, stable over scans: of component, path and advisory.
    pub(in crate::scanner) fingerprint: String,
    pub(in crate::scanner) category: String,
    pub(in crate::scanner) title: String,
    pub(in crate::scanner) description: String,
    pub(in crate::scanner) severity: Severity,
    /// `cwe-502`; empty when unknown.
    pub(in crate::scanner) cwe_id: String,
    pub(in crate::scanner) cve_ids: Vec<String>,
    pub(in crate::scanner) aliases: Vec<String>,
    pub(in crate::scanner) component: Component,
    pub(in crate::scanner) affected_range: String,
    pub(in crate::scanner) fixed_version: Option<String>,
    pub(in crate::scanner) fix: FixSuggestion,
    pub(in crate::scanner) evidence: Vec<Evidence>,
    pub(in crate::scanner) references: Vec<String>,
    pub(in crate::scanner) published: String,
    pub(in crate::scanner) confidence: Confidence,
    /// The path of calls to it as `codeFlow` has it (WIRE 6): file, line, columns; empty without one.
    #[serde(default)]
    pub(in crate::scanner) flow: Vec<serde_json::Value>,
    /// None where bytecode tells nothing.
    pub(in crate::scanner) reachability: Option<Reachability>,
}

/// Shared between a running analysis and whoever watches or stops it.
#[derive(Debug, Default)]
pub(in crate::scanner) struct Watch {
    progress: AtomicU8,
    stop: AtomicBool,
    stopping: Notify,
}

impl Watch {
    /// 0 to 100.
    pub(in crate::scanner) fn progress(&self) -> u8 {
        self.progress.load(Ordering::Relaxed)
    }

    /// Sets the progress, 0 to 100.
    pub(in crate::scanner) fn set_progress(&self, percent: u8) {
        self.progress.store(percent.min(100), Ordering::Relaxed);
    }

    /// Asks the analysis to end soon with nothing.
    pub(in crate::scanner) fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.stopping.notify_waiters();
    }

    /// Resolves when it was asked to.
    pub(in crate::scanner) async fn stopped(&self) {
        let mut stopping = std::pin::pin!(self.stopping.notified());
        stopping.as_mut().enable();
        if !self.stop.load(Ordering::SeqCst) {
            stopping.await;
        }
    }

    /// Whether it was asked to.
    pub(in crate::scanner) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
