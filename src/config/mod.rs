//! Settings as plain data. Defaults come from `config/default.toml`, then a file, then the environment
//! (`CARDEA__SECTION__KEY`). Every problem is reported at once with its path. Pure: nothing here is kept or global.

pub mod gateway;
pub mod idp;
pub mod scanner;
