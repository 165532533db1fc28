//! The one suite that both backends pass, and the stores it runs on.

pub(in crate::gateway) mod bench;
mod conformance;
pub(in crate::gateway) mod cut;
mod file;
mod layouts;
mod outage;

/// Runs every case on an embedded file with a manual clock and on a real Redis.
macro_rules! on_both {
    ($($case:ident)*) => {
        mod on_file {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case($crate::gateway::store::tests::bench::Bench::file()).await;
            })*
        }
        mod on_redis {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case($crate::gateway::store::tests::bench::Bench::redis().await).await;
            })*
        }
    };
}
pub(in crate::gateway) use on_both;
