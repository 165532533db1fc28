//! Reports (interface section 4, WIRE 11 and 18 #18, #19).

/// The header that carries the reader's language; absent means English.
pub const LANGUAGE_HEADER: &str = "X-User-Language";

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportType {
    Pdf,
    Html,
    /// CycloneDX 1.6, JSON (an addition to the interface).
    CycloneDx,
    /// SPDX 2.3, JSON (an addition to the interface).
    Spdx,
}

impl ReportType {
    /// Reads the query value in any case; none is PDF; `Err` for what is not offered.
    ///
    /// # Errors
    /// The words to answer with.
    pub fn read(value: Option<&str>) -> Result<Self, &'static str> {
        match value.map(str::to_ascii_lowercase).as_deref() {
            None | Some("" | "pdf") => Ok(Self::Pdf),
            Some("html") => Ok(Self::Html),
            Some("cyclonedx") => Ok(Self::CycloneDx),
            Some("spdx") => Ok(Self::Spdx),
            Some(_) => Err("type must be pdf, html, cyclonedx or spdx"),
        }
    }

    /// Query value.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Html => "html",
            Self::CycloneDx => "cyclonedx",
            Self::Spdx => "spdx",
        }
    }

    /// The end of a file name, without the first dot.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Html => "html",
            Self::CycloneDx => "cdx.json",
            Self::Spdx => "spdx.json",
        }
    }

    /// Media type of the body.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Html => "text/html; charset=utf-8",
            Self::CycloneDx => "application/vnd.cyclonedx+json; version=1.6",
            Self::Spdx => "application/spdx+json",
        }
    }
}

/// Languages a report is written in; all others fall back to English.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportLanguage {
    English,
    Chinese,
}

impl ReportLanguage {
    /// Reads the header value: the first tag that starts with `zh` or `en` decides.
    #[must_use]
    pub fn read(value: Option<&str>) -> Self {
        let first = value.unwrap_or("en").trim().to_ascii_lowercase();
        if first.starts_with("zh") { Self::Chinese } else { Self::English }
    }

    /// Header value and language tag.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }
}
