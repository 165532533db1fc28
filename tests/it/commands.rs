//! The commands over the built binary: configuration and its problems, the health check, the demo's folder.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;

use tempfile::TempDir;

/// 32 bytes in base64, made of zeros: it seals nothing anywhere.
const KEY: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

fn cardea(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cardea"));
    command.args(arguments).env_clear().envs(environment.iter().copied()).output().expect("the built binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// A whole gateway; `secret` is a line of the identity section.
fn gateway(secret: &str) -> String {
    format!(
        r#"
[gateway.session]
cookie_name = "cardea"
[[gateway.keys]]
id = "k1"
key = "{KEY}"
[gateway.tenants.acme]
name = "Acme"
hosts = ["localhost:8080"]
public_url = "http://localhost:8080"
[gateway.tenants.acme.identity]
auth_url = "http://127.0.0.1:8082"
client_id = "portal"
{secret}
[gateway.tenants.acme.service]
base_url = "http://127.0.0.1:8081"
"#
    )
}

fn written(folder: &TempDir, name: &str, content: &str) -> String {
    let path = folder.path().join(name);
    fs::write(&path, content).expect("a file in a temporary folder");
    path.to_str().expect("a plain path").to_owned()
}

fn check(content: &str, environment: &[(&str, &str)]) -> Output {
    let folder = TempDir::new().expect("a temporary folder");
    let file = written(&folder, "cardea.toml", content);
    cardea(&["check-config", "--config", &file], environment)
}

fn problems(content: &str) -> String {
    let output = check(content, &[]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    assert!(output.stdout.is_empty(), "problems belong on standard error");
    text(&output.stderr)
}

#[test]
fn a_good_configuration_is_printed_with_its_secrets_blotted_out() {
    let output = check(&gateway("client_secret = \"quite-secret-text\""), &[]);
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(!shown.contains("quite-secret-text") && !shown.contains(KEY), "{shown}");
    let parsed: toml::Table = shown.parse().expect("what is shown is TOML");
    let tenant = &parsed["gateway"]["tenants"]["acme"];
    assert_eq!(tenant["identity"]["client_secret"].as_str(), Some("[secret]"));
    assert_eq!(tenant["service"]["prefix"].as_str(), Some("/scanner"), "defaults of every tenant are merged in");
    assert_eq!(parsed["gateway"]["limits"]["form_bytes"].as_integer(), Some(65_536));
}

#[test]
fn every_problem_is_told_at_once_with_its_path_and_a_hint() {
    let told = problems(
        r#"
[gatway]
[telemetry]
format = "xml"
[gateway.server]
lisen = "x"
workers = "3"
listen = "nowhere"
trusted_proxies = ["10.0.0.0/99"]
[gateway.store]
backend = "redis"
[gateway.limits]
form_bytes = 5
[[gateway.keys]]
id = "a"
key = "c2hvcnQ="
[gateway.tenants.Acme]
name = "Acme"
hosts = ["Portal"]
public_url = "https://p.example/"
accent = "blue"
identity = 4
service.base_url = "http://user:hidden-text@x"
"#,
    );
    let expected = [
        "gatway: is not an option\n      did you mean `gateway`?",
        "telemetry.format: does not fit\n      expected one of text, json",
        "gateway.server.lisen: is not an option\n      did you mean `listen`?",
        "gateway.server.workers: is text\n      expected a number without quotes",
        "gateway.server.listen: does not fit",
        "gateway.server.trusted_proxies: holds \"10.0.0.0/99\"",
        "gateway.store.redis_url: is missing",
        "gateway.limits.form_bytes: is out of bounds\n      expected a whole number from 1024",
        "gateway.keys.0.key: is not 32 bytes in base64",
        "gateway.tenants.Acme: has a name that does not fit",
        "gateway.tenants.Acme.hosts: holds \"Portal\"",
        "gateway.tenants.Acme.public_url: does not fit",
        "gateway.tenants.Acme.accent: does not fit",
        "gateway.tenants.Acme.identity: is a number",
        "gateway.tenants.Acme.service.base_url: does not fit",
    ];
    for problem in expected {
        assert!(told.contains(problem), "{problem:?} is not in:\n{told}");
    }
    assert!(told.starts_with(&format!("cardea: the configuration has {} problems:\n", expected.len())), "{told}");
    assert!(!told.contains("hidden-text"), "an address may hold a password: {told}");
}

#[test]
fn a_client_has_a_secret_or_a_key_of_its_own() {
    let folder = TempDir::new().expect("a temporary folder");
    let key = "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49\n-----END PRIVATE KEY-----\n";
    let (right, wrong) = (written(&folder, "key.pem", key), written(&folder, "wrong.pem", "no key"));
    let good = check(&gateway(&format!("client_auth = \"private_key_jwt\"\nclient_key_file = {right:?}")), &[]);
    assert_eq!(good.status.code(), Some(0), "{}", text(&good.stderr));
    assert!(!text(&good.stdout).contains("PRIVATE KEY"), "{}", text(&good.stdout));
    for (lines, expected) in [
        ("client_auth = \"private_key_jwt\"".to_owned(), "identity.client_key: is missing"),
        ("client_auth = \"private_key_jwt\"\nclient_secret = \"x\"".to_owned(), "identity.client_key: is missing"),
        (format!("client_secret = \"x\"\nclient_key_file = {wrong:?}"), "identity.client_key: is no private key"),
        (format!("client_auth = \"basic\"\nclient_key_file = {right:?}"), "identity.client_secret: is missing"),
        ("client_auth = \"mtls\"\nclient_secret = \"x\"".to_owned(), "expected one of auto, post, basic, private_key_jwt"),
    ] {
        let told = problems(&gateway(&lines));
        assert!(told.contains(expected) && told.contains("has a problem"), "{lines}: {told}");
    }
}

#[test]
fn a_secret_comes_inline_or_from_a_file_never_both() {
    let folder = TempDir::new().expect("a temporary folder");
    let secret = written(&folder, "secret", "from-a-file\n");
    let from_file = check(&gateway(&format!("client_secret_file = {secret:?}")), &[]);
    assert_eq!(from_file.status.code(), Some(0), "{}", text(&from_file.stderr));
    assert!(!text(&from_file.stdout).contains("from-a-file"));

    let both = problems(&gateway(&format!("client_secret = \"inline-text\"\nclient_secret_file = {secret:?}")));
    assert!(both.contains("identity.client_secret: is set, and so is `client_secret_file`"), "{both}");
    assert!(!both.contains("inline-text") && !both.contains("from-a-file"), "{both}");

    let neither = problems(&gateway(""));
    assert!(neither.contains("identity.client_secret: is missing") && neither.contains("`client_secret_file`"), "{neither}");

    let nowhere = problems(&gateway("client_secret_file = \"/nowhere/at-all\""));
    assert!(nowhere.contains("client_secret_file: the file /nowhere/at-all cannot be read"), "{nowhere}");
}

#[test]
fn server_keys_come_inline_or_from_files_never_both() {
    let folder = TempDir::new().expect("a temporary folder");
    let key = written(&folder, "sk", "sk-from-a-file-0123456789");
    let files = check(&format!("[scanner.accounts.acme]\nserver_key_files = [{key:?}]"), &[]);
    assert_eq!(files.status.code(), Some(0), "{}", text(&files.stderr));
    let both = format!("[scanner.accounts.acme]\nserver_keys = [\"sk-inline-0123456789\"]\nserver_key_files = [{key:?}]");
    let told = problems(&both);
    assert!(told.contains("scanner.accounts.acme.server_keys: is set, and so is `server_key_files`"), "{told}");
    assert!(!told.contains("sk-inline"), "{told}");
}

#[test]
fn the_environment_wins_and_a_secret_of_digits_stays_text() {
    let environment = [
        ("CARDEA__GATEWAY__TENANTS__ACME__IDENTITY__CLIENT_SECRET", "00123456"),
        ("CARDEA__GATEWAY__TENANTS__ACME__IDENTITY__CLIENT_ID", "007"),
        ("CARDEA__GATEWAY__SERVER__WORKERS", "3"),
        ("CARDEA__GATEWAY__SERVER__TRUSTED_PROXIES", "10.0.0.0/8, ::1"),
        ("CARDEA__GATEWAY__LIMITS__FORM_BYTES", "131072"),
        ("UNRELATED", "x"),
    ];
    let output = check(&gateway("client_id_is_above = \"\"").replace("client_id_is_above = \"\"\n", ""), &environment);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let parsed: toml::Table = text(&output.stdout).parse().expect("what is shown is TOML");
    let server = &parsed["gateway"]["server"];
    assert_eq!(server["workers"].as_integer(), Some(3));
    assert_eq!(server["trusted_proxies"].as_array().map(Vec::len), Some(2));
    assert_eq!(parsed["gateway"]["tenants"]["acme"]["identity"]["client_id"].as_str(), Some("007"));
    assert_eq!(parsed["gateway"]["limits"]["form_bytes"].as_integer(), Some(131_072));
    assert!(!text(&output.stdout).contains("00123456"));
}

#[test]
fn the_environment_alone_can_configure_a_gateway() {
    let environment = [
        ("CARDEA__GATEWAY__KEYS__0__ID", "k1"),
        ("CARDEA__GATEWAY__KEYS__0__KEY", KEY),
        ("CARDEA__GATEWAY__TENANTS__ACME__NAME", "Acme"),
        ("CARDEA__GATEWAY__TENANTS__ACME__HOSTS", "portal.acme.example"),
        ("CARDEA__GATEWAY__TENANTS__ACME__PUBLIC_URL", "https://portal.acme.example"),
        ("CARDEA__GATEWAY__TENANTS__ACME__IDENTITY__AUTH_URL", "https://id.acme.example"),
        ("CARDEA__GATEWAY__TENANTS__ACME__IDENTITY__CLIENT_ID", "portal"),
        ("CARDEA__GATEWAY__TENANTS__ACME__IDENTITY__CLIENT_SECRET", "42"),
        ("CARDEA__GATEWAY__TENANTS__ACME__SERVICE__BASE_URL", "https://scan.acme.example"),
    ];
    let output = cardea(&["check-config"], &environment);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let wrong = [&environment[..], &[("CARDEA__GATEWAY__SERVER__WORKERS", "many")]].concat();
    let told = text(&cardea(&["check-config"], &wrong).stderr);
    assert!(told.contains("gateway.server.workers: is out of bounds (from CARDEA__GATEWAY__SERVER__WORKERS)"), "{told}");
}

#[test]
fn tenants_do_not_share_a_host_and_sessions_need_tls_off_this_machine() {
    let second = r#"
[gateway.tenants.globex]
name = "Globex"
hosts = ["localhost:8080", "globex.example"]
public_url = "http://globex.example"
identity = { auth_url = "http://127.0.0.1:8082", client_id = "g", client_secret = "g" }
service.base_url = "http://127.0.0.1:8081"
"#;
    let told = problems(&(gateway("client_secret = \"x\"") + second));
    assert!(told.contains("gateway.tenants.globex.hosts: names localhost:8080, which tenant acme names too"), "{told}");
    assert!(told.contains("gateway.tenants.globex.public_url: is http on a host that is not this machine"), "{told}");
    assert!(told.contains("gateway.session.cookie_name: lacks the prefix __Host-"), "{told}");
}

#[test]
fn the_lease_of_a_refresh_outlasts_the_call_it_guards() {
    let told = problems(&(gateway("client_secret = \"x\"") + "[gateway.upstream]\ntimeout_ms = 20000\n"));
    assert!(told.contains("gateway.session.refresh_lease_seconds: is not longer than upstream.timeout_ms"), "{told}");
}

#[test]
fn operators_have_an_address_of_their_own_or_none() {
    let with = |listen: &str| {
        check(&format!("{}\n[gateway.operations]\nlisten = \"{listen}\"\n", gateway("client_secret = \"x\"")), &[])
    };
    for good in ["", "127.0.0.1:9090", "[::1]:9090"] {
        assert_eq!(with(good).status.code(), Some(0), "{good}: {}", text(&with(good).stderr));
    }
    for (wrong, told) in [
        ("9090", "gateway.operations.listen: does not fit"),
        ("127.0.0.1:8080", "gateway.operations.listen: is the address of server.listen"),
    ] {
        let refused = with(wrong);
        assert_eq!(refused.status.code(), Some(2), "{wrong}");
        assert!(text(&refused.stderr).contains(told), "{}", text(&refused.stderr));
    }
}

#[test]
fn a_file_that_is_not_toml_is_named_with_the_line_and_without_its_text() {
    let told = problems("[gateway.store]\nredis_url = \"redis://:hidden-text@h\n");
    assert!(told.contains("cardea.toml, line 2: is not TOML"), "{told}");
    assert!(!told.contains("hidden-text"), "{told}");
    let absent = cardea(&["check-config", "--config", "/nowhere/cardea.toml"], &[]);
    assert_eq!(absent.status.code(), Some(2));
    assert!(text(&absent.stderr).contains("/nowhere/cardea.toml: cannot be read"));
}

#[test]
fn the_production_example_is_a_good_configuration_once_its_secrets_are_there() {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, content) in [
        ("redis_url", "rediss://portal:pw@redis.example:6380/0\n"),
        ("sealing_key", KEY),
        ("acme_client_secret", "one"),
        ("globex_client_secret", "two"),
    ] {
        written(&folder, name, content);
    }
    let example = include_str!("../../config/production.example.toml");
    let output = check(&example.replace("/run/secrets", folder.path().to_str().expect("a plain path")), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn the_defaults_name_every_option_that_is_understood() {
    let all = gateway("client_secret = \"x\"")
        + "[scanner.accounts.acme]\nserver_keys = [\"sk-0123456789abcdef\"]\n[idp]\nstate_file = \"s\"\n[idp.clients.c]\nsecret = \"s\"\n\
           redirect_uris = [\"http://localhost/\"]\norganization = \"acme\"\nname = \"A\"\n[idp.users.u]\npassword = \"u\"\n\
           organization = \"acme\"\ndisplay_name = \"U\"\nemail = \"u@acme.example\"\nroles = [\"member\"]\n";
    let output = check(&all, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let understood: toml::Table = text(&output.stdout).parse().expect("what is shown is TOML");
    let defaults = include_str!("../../config/default.toml");
    let named = |option: &str| {
        let starts = |line: &str| line.trim_start_matches("# ").strip_prefix(option).is_some_and(|rest| rest.starts_with(" ="));
        defaults.lines().any(starts)
    };
    let mut absent = Vec::new();
    options(&toml::Value::Table(understood), &mut |option| {
        if !named(option) {
            absent.push(option.to_owned());
        }
    });
    assert!(absent.is_empty(), "not in config/default.toml: {absent:?}");
}

/// Calls `each` with the name of every option that is no section.
fn options(value: &toml::Value, each: &mut impl FnMut(&str)) {
    match value {
        toml::Value::Table(table) => {
            for (name, inner) in table {
                if !(inner.is_table() || inner.as_array().is_some_and(|list| list.iter().any(toml::Value::is_table))) {
                    each(name);
                }
                options(inner, each);
            }
        }
        toml::Value::Array(list) => list.iter().for_each(|inner| options(inner, each)),
        _ => {}
    }
}

/// Answers one request with `answer`; gives back the address and what was asked.
fn answering(answer: &'static str) -> (String, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    let answered = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut asked = Vec::new();
        let mut chunk = [0; 256];
        while !asked.ends_with(b"\r\n\r\n") {
            let count = stream.read(&mut chunk).expect("a request");
            asked.extend_from_slice(&chunk[..count]);
        }
        stream.write_all(answer.as_bytes()).expect("an answer");
        String::from_utf8(asked).expect("a request in text")
    });
    (address, answered)
}

#[test]
fn the_health_check_tells_a_well_process_from_an_unwell_one_and_from_none() {
    let (address, asked) = answering("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    assert_eq!(cardea(&["healthcheck", "--url", &format!("http://{address}")], &[]).status.code(), Some(0));
    assert!(asked.join().expect("asked").starts_with("GET /healthz HTTP/1.1\r\n"));

    let (address, _asked) = answering("HTTP/1.1 503 Service Unavailable\r\n\r\n");
    let unwell = cardea(&["healthcheck", "--url", &format!("http://{address}")], &[]);
    assert_eq!(unwell.status.code(), Some(1));
    assert!(text(&unwell.stderr).contains("answers, but not well: HTTP/1.1 503"));

    let nobody = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("an address");
    let none = cardea(&["healthcheck", "--url", &format!("http://{nobody}")], &[]);
    assert_eq!(none.status.code(), Some(1));
    assert!(text(&none.stderr).contains("does not answer"));
}

#[test]
fn the_health_check_finds_the_configured_address_and_a_host_it_answers_to() {
    let (address, asked) = answering("HTTP/1.1 200 OK\r\n\r\n");
    let folder = TempDir::new().expect("a temporary folder");
    let file = written(&folder, "cardea.toml", &gateway("client_secret = \"x\""));
    let checked = cardea(&["healthcheck", "--config", &file], &[("CARDEA__GATEWAY__SERVER__LISTEN", &address)]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stderr));
    assert!(asked.join().expect("asked").contains("\r\nhost: localhost:8080\r\n"));
}

#[test]
fn help_names_the_commands_and_the_exit_codes() {
    let output = cardea(&["--help"], &[]);
    assert_eq!(output.status.code(), Some(0));
    let help = text(&output.stdout);
    for word in ["check-config", "healthcheck", "Exit codes: 0 done, 1 could not be done, 2"] {
        assert!(help.contains(word), "{help}");
    }
    assert_eq!(cardea(&["no-such-command"], &[]).status.code(), Some(2));
}

mod demo {
    //! What the demo prepares, before its parts start.

    use std::net::Ipv4Addr;

    use cardea::demo::{Demo, DemoError, Options};

    use super::*;

    fn options(data: &Path) -> Options {
        Options {
            listen: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            data: data.to_owned(),
            redirect_uris: vec!["http://127.0.0.1:9/back".to_owned()],
            frame_ancestors: vec!["http://frame.localhost:9".to_owned()],
        }
    }

    fn sheet(data: &Path) -> serde_json::Value {
        serde_json::from_slice(&fs::read(data.join("demo.json")).expect("demo.json")).expect("JSON")
    }

    #[test]
    fn the_sheet_for_scripts_and_the_settings_of_all_parts_agree() {
        let folder = TempDir::new().expect("a temporary folder");
        let data = folder.path().join("deep/data");
        let demo = Demo::prepare(&options(&data), Vec::new()).expect("a demo");
        let sheet = sheet(&data);
        let gateway = demo.config.gateway.as_ref().expect("a gateway");
        let scanner = demo.config.scanner.as_ref().expect("a scanner");
        let idp = demo.config.idp.as_ref().expect("an identity provider");
        let port = gateway.server.listen.port();
        assert_eq!((scanner.listen.port(), idp.listen.port()), (port + 1, port + 2));
        assert_eq!(sheet["portal"], format!("http://localhost:{port}"));
        assert_eq!(sheet["tenants"]["globex"]["portal"], format!("http://globex.localhost:{port}"));
        for tenant in ["acme", "globex"] {
            let told = &sheet["tenants"][tenant];
            let client = &idp.clients[told["client_id"].as_str().expect("text")];
            assert!(client.secret.matches(told["client_secret"].as_str().expect("text")));
            assert!(scanner.accounts[tenant].server_keys[0].matches(told["sk"].as_str().expect("text")));
            assert_eq!(serde_json::json!(client.redirect_uris), told["redirect_uris"]);
            assert!(client.redirect_uris.contains(&"http://127.0.0.1:9/back".to_owned()));
            let settings = &gateway.tenants[tenant];
            assert!(client.redirect_uris.contains(&format!("{}/auth/callback", settings.public_url)));
            assert_eq!(settings.frame_ancestors, ["http://frame.localhost:9"]);
            assert_eq!(settings.identity.auth_url, sheet["idp"]);
            assert_eq!(settings.service.base_url, sheet["scanner"]);
        }
        assert_eq!(sheet["users"].as_array().map(Vec::len), Some(3));
        assert_eq!(sheet["users"][1], serde_json::json!({"name": "bob", "password": "bob", "tenant": "acme", "role": "member"}));
        let [portal, scanner, idp] = ["portal", "scanner", "idp"].map(|key| sheet[key].as_str().expect("text").to_owned());
        assert_eq!(demo.ready(), format!("ready portal={portal} scanner={scanner} idp={idp}"));
        assert!(demo.greeting().contains("alice") && demo.greeting().contains("globex.localhost"));
    }

    #[test]
    fn secrets_survive_a_restart_and_an_older_file_keeps_working() {
        let folder = TempDir::new().expect("a temporary folder");
        drop(Demo::prepare(&options(folder.path()), Vec::new()).expect("a demo"));
        let first = sheet(folder.path());
        drop(Demo::prepare(&options(folder.path()), Vec::new()).expect("a demo"));
        assert_eq!(sheet(folder.path())["tenants"]["acme"]["sk"], first["tenants"]["acme"]["sk"]);

        // As if an older version had known one tenant only.
        let path = folder.path().join("secrets.json");
        let mut stored: serde_json::Value = serde_json::from_slice(&fs::read(&path).expect("secrets")).expect("JSON");
        stored["tenants"].as_object_mut().expect("tenants").remove("globex");
        fs::write(&path, stored.to_string()).expect("written");
        drop(Demo::prepare(&options(folder.path()), Vec::new()).expect("a demo"));
        let third = sheet(folder.path());
        assert_eq!(third["tenants"]["acme"]["client_secret"], first["tenants"]["acme"]["client_secret"]);
        assert_ne!(third["tenants"]["globex"]["sk"], first["tenants"]["globex"]["sk"]);
    }

    #[cfg(unix)]
    #[test]
    fn the_folder_and_the_files_are_for_their_owner_only() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = TempDir::new().expect("a temporary folder");
        let data = folder.path().join("data");
        let _demo = Demo::prepare(&options(&data), Vec::new()).expect("a demo");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&data), 0o700);
        assert_eq!((mode(&data.join("demo.json")), mode(&data.join("secrets.json"))), (0o600, 0o600));
    }

    #[test]
    fn a_second_demo_on_the_same_folder_is_told_so() {
        let folder = TempDir::new().expect("a temporary folder");
        let _first = Demo::prepare(&options(folder.path()), Vec::new()).expect("a demo");
        let second = Demo::prepare(&options(folder.path()), Vec::new()).expect_err("the folder is in use");
        assert!(matches!(second, DemoError::FolderBusy(_)), "{second}");
        assert!(second.to_string().contains("--data DIR"), "{second}");
    }

    #[test]
    fn a_damaged_secrets_file_is_named_and_not_overwritten() {
        let folder = TempDir::new().expect("a temporary folder");
        let path = folder.path().join("secrets.json");
        fs::write(&path, "{\"sealing_key\": \"hidden-text").expect("written");
        let refused = Demo::prepare(&options(folder.path()), Vec::new()).expect_err("damaged").to_string();
        assert!(refused.contains("is damaged") && !refused.contains("hidden-text"), "{refused}");
        assert_eq!(fs::read_to_string(&path).expect("still there"), "{\"sealing_key\": \"hidden-text");
    }

    #[test]
    fn only_loopback_is_accepted_whoever_sets_the_address() {
        let folder = TempDir::new().expect("a temporary folder");
        let open = Options { listen: Ipv4Addr::UNSPECIFIED.into(), ..options(folder.path()) };
        let refused = Demo::prepare(&open, Vec::new()).expect_err("not loopback").to_string();
        assert!(refused.contains("0.0.0.0 can be reached from elsewhere"), "{refused}");
        let environment = vec![("CARDEA__SCANNER__LISTEN".to_owned(), "0.0.0.0:8081".to_owned())];
        let refused = Demo::prepare(&options(folder.path()), environment).expect_err("not loopback");
        assert!(matches!(refused, DemoError::NotLoopback(_)), "{refused}");
        let environment = vec![("CARDEA__GATEWAY__OPERATIONS__LISTEN".to_owned(), "0.0.0.0:9090".to_owned())];
        let refused = Demo::prepare(&options(folder.path()), environment).expect_err("not loopback");
        assert!(matches!(refused, DemoError::NotLoopback(_)), "{refused}");
    }

    #[test]
    fn a_taken_port_is_named_with_what_to_do() {
        let folder = TempDir::new().expect("a temporary folder");
        let held = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = held.local_addr().expect("an address").port();
        let refused = Demo::prepare(&Options { port, ..options(folder.path()) }, Vec::new()).expect_err("taken").to_string();
        assert!(refused.contains(&format!("port {port} is taken")) && refused.contains("--port"), "{refused}");
    }
}

#[cfg(unix)]
mod running {
    //! The demo as a process.

    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;

    use super::*;

    #[test]
    fn the_demo_says_when_it_is_ready_and_ends_well_when_asked() {
        let folder = TempDir::new().expect("a temporary folder");
        let data = folder.path().to_str().expect("a plain path");
        let mut demo = Command::new(env!("CARGO_BIN_EXE_cardea"))
            .args(["demo", "--port", "0", "--data", data])
            .env_clear()
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the built binary runs");
        let mut said = BufReader::new(demo.stdout.take().expect("its output")).lines().map(|line| line.expect("text"));
        let ready = said.next().expect("a line");
        let address = |name: &str| {
            let found = ready.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
            found.unwrap_or_else(|| panic!("no {name} in {ready}")).to_owned()
        };
        assert!(ready.starts_with("ready portal="), "{ready}");
        for part in ["portal", "scanner"] {
            let well = cardea(&["healthcheck", "--url", &address(part)], &[]);
            assert_eq!(well.status.code(), Some(0), "{part}: {}", text(&well.stderr));
        }
        let second = cardea(&["demo", "--port", "0", "--data", data], &[]);
        assert_eq!(second.status.code(), Some(1));
        assert!(text(&second.stderr).contains("another demo is running"));

        let asked = Command::new("kill").args(["-TERM", &demo.id().to_string()]).status().expect("kill runs");
        assert!(asked.success());
        assert_eq!(demo.wait().expect("it ends").code(), Some(0));
        assert!(said.any(|line| line.contains("alice")), "how to sign in is told");
    }

    #[test]
    fn the_demo_refuses_to_be_open_to_others() {
        let folder = TempDir::new().expect("a temporary folder");
        let data = folder.path().to_str().expect("a plain path");
        let refused = cardea(&["demo", "--port", "0", "--data", data, "--listen", "0.0.0.0"], &[]);
        assert_eq!(refused.status.code(), Some(1));
        assert!(text(&refused.stderr).contains("the demo listens on this machine only"));
    }

    #[test]
    fn advisories_are_told_for_a_folder_no_service_ever_used() {
        let folder = TempDir::new().expect("a temporary folder");
        let status = cardea(&["advisories", "status", "--data", folder.path().to_str().expect("a plain path")], &[]);
        assert_eq!(status.status.code(), Some(0), "{}", text(&status.stderr));
        assert!(text(&status.stdout).contains("starter pack"));
        let nothing = cardea(&["advisories", "import", "/nowhere/at-all", "--data", folder.path().to_str().expect("plain")], &[]);
        assert_eq!(nothing.status.code(), Some(1));
    }
}
