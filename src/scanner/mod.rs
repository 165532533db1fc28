//! The reference scanning service behind one facade. Never imports the gateway or the identity provider.

mod engine;
