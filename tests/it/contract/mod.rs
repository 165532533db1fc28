//! The interface as a contract: one table with every operation, what success looks like, and how each documented error is
//! caused (400, 401, 403, 404, 500; where one cannot be caused, the row says why). Everything over sockets against the
//! reference service. The gateway's client runs through the same operations in `src/gateway/upstream/tests/reference.rs`.

mod answers;
mod client;
mod gateway;
mod operation;
mod rows;
mod world;
