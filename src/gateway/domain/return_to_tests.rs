//! Attack payloads against return targets.
