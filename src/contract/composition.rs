//! Composition analysis of Maven projects (WIRE 10): the list inside the zip that answers. Names are the wire's own, with
//! capitals.

use serde::{Deserialize, Serialize};

/// `IssueType` of every issue of a composition analysis.
pub const ISSUE_TYPE: u8 = 3;
/// `Product` of every issue.
pub const PRODUCT: &str = "SBOM Analyzer";
/// `additionalData.type` of every issue.
pub const DATA_TYPE: &str = "OssIssueData";

/// One flaw of one dependency of one pom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Issue {
    #[serde(rename = "ID")]
    pub id: String,
    /// 1 critical, 2 high, 3 medium, 4 low.
    pub severity: u8,
    pub issue_type: u8,
    pub is_ignored: bool,
    pub is_new: bool,
    pub message: String,
    pub formatted_message: String,
    /// The pom, by its path in the upload.
    pub affected_file_path: String,
    pub product: String,
    pub ecosystem: String,
    #[serde(rename = "CVEs")]
    pub cves: Vec<String>,
    #[serde(rename = "CWEs")]
    pub cwes: Vec<String>,
    #[serde(rename = "additionalData")]
    pub additional_data: IssueData,
}

/// What belongs to an issue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssueData {
    #[serde(rename = "type")]
    pub kind: String,
    /// Stable over analyses: of pom, dependency and flaw.
    pub key: String,
    pub title: String,
    /// `group:artifact`.
    pub name: String,
    pub version: String,
    pub package_manager: String,
    pub package_name: String,
    /// From the project to the dependency, `group:artifact@version` each.
    pub from: Vec<String>,
    pub fixed_in: Vec<String>,
    /// The same way as `from` with the version to go to at its end; empty without one.
    pub upgrade_path: Vec<String>,
    pub is_upgradable: bool,
    /// The vector; empty when the source gives none.
    #[serde(rename = "CVSSv3")]
    pub cvss_v3: String,
    /// None without a vector.
    pub cvss_score: Option<f64>,
    /// Whether an exploit is known; what is not known is empty.
    pub exploit: String,
    pub is_patchable: bool,
    pub description: String,
    pub references: Vec<IssueReference>,
    pub remediation: String,
}

/// Where to read on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct IssueReference {
    pub title: String,
    pub url: String,
}
