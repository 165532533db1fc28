//! The one suite that both backends pass, and the stores it runs on.
