//! The fuzz targets: every one is built, run and has seeds, and the seeds are no findings.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cardea::{gateway, scanner};

type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 10] = [
    ("cache_key", gateway::fuzzing::cache_key),
    ("class", scanner::fuzzing::class),
    ("cookies", gateway::fuzzing::cookies),
    ("headers", gateway::fuzzing::headers),
    ("lock_file", scanner::fuzzing::lock_file),
    ("path", gateway::fuzzing::path),
    ("pdf", gateway::fuzzing::pdf),
    ("pom", scanner::fuzzing::pom),
    ("upload", gateway::fuzzing::upload),
    ("zip", scanner::fuzzing::zip),
];

fn at(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn the_seeds_of_every_target_are_no_findings() {
    for (name, target) in TARGETS {
        let seeds = fs::read_dir(at("tests/fuzz/corpus").join(name)).expect("seeds");
        let seeds: Vec<_> = seeds.map(|seed| fs::read(seed.expect("a seed").path()).expect("a file")).collect();
        assert!(!seeds.is_empty(), "{name} has no seeds");
        for seed in seeds {
            assert!(seed.len() <= 4096, "a seed of {name} is too long to begin with");
            // Cut short they are something else.
            for end in (0..seed.len()).step_by(1 + seed.len() / 8).chain([seed.len()]) {
                target(&seed[..end]);
            }
        }
    }
}

#[test]
fn every_target_is_built_and_run() {
    let here: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let files = fs::read_dir(at("tests/fuzz/targets")).expect("targets");
    let stem = |file: fs::DirEntry| file.path().file_stem().expect("a name").to_string_lossy().into_owned();
    assert_eq!(files.map(|file| stem(file.expect("a target"))).collect::<BTreeSet<_>>(), here);
    let manifest = fs::read_to_string(at("tests/fuzz/Cargo.toml")).expect("the manifest");
    let script = fs::read_to_string(at(".ci/fuzz")).expect("the script");
    let run = script.lines().find_map(|line| line.strip_prefix("targets=(")?.strip_suffix(')')).expect("the list");
    assert_eq!(run.split(' ').map(str::to_owned).collect::<BTreeSet<_>>(), here);
    for name in here {
        assert!(manifest.contains(&format!("path = \"targets/{name}.rs\"")), "{name} is not built");
    }
}
