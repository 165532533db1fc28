//! PDFs of many makers.
