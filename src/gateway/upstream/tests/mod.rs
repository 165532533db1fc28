//! Tests of this room with programmable services on real sockets.
