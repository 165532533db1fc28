//! The product behind one facade. Arrows go one way: `web -> services -> {session, vault, cache, upstream} -> store -> domain`.

#![cfg_attr(not(test), expect(dead_code, unused_imports, reason = "the rooms above these are not joined yet"))]

mod domain;
mod session;
mod store;
mod vault;
