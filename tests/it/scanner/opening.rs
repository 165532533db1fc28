//! What a start says when the data folder is not as it should be, and what is read from an older one.

use std::path::Path;

use cardea::platform::clock::Clock;
use cardea::platform::shutdown::Shutdown;
use cardea::scanner::Scanner;

use crate::support::jar;
use crate::support::scanner::{ACME, settings, spawn_scanner};

/// The words of a start that is refused.
async fn refused(data: &Path) -> String {
    let shutdown = Shutdown::default();
    let words = Scanner::start(settings(data), Clock::system(), &shutdown).await.expect_err("a start on this folder").to_string();
    shutdown.begin();
    words
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_database_is_named_with_its_path_and_what_to_do() {
    let scanner = spawn_scanner().await;
    scanner.scanned(ACME, "a.jar", jar::library("g", "a", "1")).await;
    let whole = std::fs::read(scanner.data().join("scanner.redb")).unwrap();
    for damaged in [b"this is no database".to_vec(), whole[..whole.len() / 2].to_vec(), vec![0; whole.len()]] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scanner.redb");
        std::fs::write(&path, &damaged).unwrap();
        let words = refused(folder.path()).await;
        assert!(words.contains(&path.display().to_string()) && words.contains("put a copy of it back"), "{words}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_service_on_the_same_folder_is_told_so() {
    let scanner = spawn_scanner().await;
    let words = refused(scanner.data()).await;
    assert!(words.contains("in use by another process"), "{words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sealing_key_that_is_none_is_named_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("seal.key"), "not a key").unwrap();
    let words = refused(folder.path()).await;
    assert!(words.contains("seal.key") && words.contains("32 bytes"), "{words}");
}
