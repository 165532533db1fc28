//! Bounds of the interface. Those the interface is silent about are ours and say so.

/// Items on a page when the request names no size (ours, WIRE 18 #3).
pub const DEFAULT_PAGE_SIZE: u32 = 10;
/// The largest page (ours, WIRE 18 #24).
pub const MAX_PAGE_SIZE: u32 = 200;
/// A repeated create with the same body is the same task for this many seconds (ours, WIRE reading rule 10).
pub const REPEATED_CREATE_SECONDS: u64 = 60;
/// Source archives beside the artifacts of one create (ours).
pub const MAX_SOURCES: usize = 20;
/// The longest project name in characters (ours).
pub const MAX_PROJECT_NAME: usize = 200;
