//! The product: the portal's gateway behind one facade. All rooms below are private; arrows run
//! `web -> services -> {session, vault, cache, upstream} -> store -> domain/contract/platform`.

mod domain;
mod upstream;
