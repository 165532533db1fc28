//! What every process of the house needs and no domain word knows: secrets, time, randomness, sealing, hostile text,
//! telemetry, shutdown. Something enters this room only when at least two of gateway, scanner and identity provider use it.

pub mod clock;
pub mod console;
pub mod digest;
pub mod digits;
pub mod hostile;
pub mod multipart;
pub mod panics;
pub mod private;
pub mod random;
pub mod seal;
pub mod secret;
pub mod shutdown;
pub mod telemetry;
