#![doc = include_str!("ARCHITECTURE.md")]

pub mod app;
pub mod cli;
pub mod config;
pub mod contract;
pub mod demo;
pub mod gateway;
pub mod idp;
pub mod platform;
pub mod scanner;
