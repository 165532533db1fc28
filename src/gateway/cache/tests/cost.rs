//! What a hit costs. Not a test of anything but the machine: run it in a release build, with `--ignored --nocapture`.

use std::hint::black_box;
use std::time::Instant;

use super::*;

const ROUNDS: u32 = 200_000;

#[tokio::test]
#[ignore = "measures, in a release build"]
async fn cost_of_a_hit() {
    let bench = Bench::file();
    let cache = cache_on(&bench.store, &settings(), &Clock::system(), &bench.shutdown);
    let (get, search) =
        (task(), asks(&acme(), user("alice"), "searchTasks", &[], r#"{"page":0,"size":20,"sorts":["-createdAt"]}"#));
    let service = Service::saying(&format!(r#"{{"taskStatus":"SUCCESS","x":"{}"}}"#, "x".repeat(2048)));
    cache.get(&get, &service).await;
    let start = Instant::now();
    for _ in 0..ROUNDS {
        black_box(cache.through(black_box(&get), service.ask()).await.unwrap());
    }
    println!("through, a hit: {:?}", start.elapsed() / ROUNDS);
    let start = Instant::now();
    for _ in 0..ROUNDS {
        black_box(task());
    }
    println!("Question::new of a GET: {:?}", start.elapsed() / ROUNDS);
    let start = Instant::now();
    for _ in 0..ROUNDS {
        black_box(asks(&acme(), user("alice"), "searchTasks", &[], r#"{"page":0,"size":20,"sorts":["-createdAt"]}"#));
    }
    println!("Question::new of a search: {:?}", start.elapsed() / ROUNDS);
    black_box(search);
    assert_eq!(service.asked(), 1);
}
