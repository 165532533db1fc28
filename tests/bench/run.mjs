// What the gateway costs beside its peers, on one machine, in one run. See README.md here.
//
//   tests/bench/run [--rounds 5] [--seconds 4] [--only gateway,nginx] [--scenes get2k,hit2k] [--binary FILE] [--output FILE]
//
// With --unpinned all share all cores: that measures nothing, but `.ci/dist` sees what runs.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { arrange, ports, servers } from "./servers.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const { values: flags } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "4" },
    only: { type: "string", default: "" },
    scenes: { type: "string", default: "" },
    binary: { type: "string", default: "" },
    output: { type: "string", default: path.join(here, "RESULTS.md") },
    unpinned: { type: "boolean", default: false },
  },
});
const rounds = Number(flags.rounds), seconds = Number(flags.seconds);
const top = path.join(here, "../..");
// In memory: no disk has a part in it.
const folder = fs.mkdtempSync("/dev/shm/cardea-bench-");
// Workers of nginx are not root.
fs.chmodSync(folder, 0o755);
const children = [];
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// ---- What is needed ----------------------------------------------------------------------------------------------------

const PACKAGES = { nginx: "nginx-light", wrk: "wrk", curl: "curl", "redis-server": "redis-server" };
const isAsked = (name) => !flags.only || flags.only.split(",").includes(name);
if (isAsked("haproxy")) PACKAGES.haproxy = "haproxy";
if (isAsked("oidc")) PACKAGES.apache2 = "apache2";
function install() {
  const has = (name) => spawnSync("sh", ["-c", `command -v ${name}`], { env: PATHS }).status === 0;
  const missing = Object.keys(PACKAGES).filter((name) => !has(name)).map((name) => PACKAGES[name]);
  if (isAsked("oidc") && !fs.existsSync("/usr/lib/apache2/modules/mod_auth_openidc.so")) missing.push("libapache2-mod-auth-openidc");
  if (missing.length === 0) return;
  console.log(`installing ${missing.join(" ")}`);
  const env = { ...PATHS, DEBIAN_FRONTEND: "noninteractive" };
  execFileSync("apt-get", ["update", "-q"], { stdio: "inherit", env });
  execFileSync("apt-get", ["install", "-yq", "--no-install-recommends", ...missing], { stdio: "inherit", env });
}
const PATHS = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` };

function build() {
  if (flags.binary) return path.resolve(flags.binary);
  // As the Dockerfile does.
  execFileSync(path.join(top, ".ci/dist"), { stdio: "inherit" });
  const target = process.env.CARGO_TARGET_DIR ?? path.join(top, "target");
  return path.resolve(top, target, "dist/cardea");
}

// ---- Processes ---------------------------------------------------------------------------------------------------------

// The server on one core; everything else, the harness as well, on the other. Ahead of other work where that is allowed.
const isRoot = process.getuid() === 0;
const pinned = (core, command) =>
  flags.unpinned ? command : [...(isRoot ? ["nice", "-n", "-15"] : []), "taskset", "-c", String(core), ...command];
function start(core, command, { env = {}, log = "/dev/null" } = {}) {
  const out = fs.openSync(log, "a");
  const [program, ...words] = pinned(core, command);
  const child = spawn(program, words, { env: { ...PATHS, ...env }, stdio: ["ignore", out, out], detached: true });
  fs.closeSync(out);
  children.push(child);
  return child;
}
async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  process.kill(child.pid, "SIGTERM");
  const late = setTimeout(() => process.kill(-child.pid, "SIGKILL"), 8000);
  await gone;
  clearTimeout(late);
}

function tree(pid) {
  let found = [pid];
  try {
    const kids = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    if (kids) found = found.concat(...kids.split(" ").map((kid) => tree(Number(kid))));
  } catch {}
  return found;
}
const TICK_US = 1e6 / Number(execFileSync("getconf", ["CLK_TCK"]));
function cpu(pid) {
  let user = 0, system = 0;
  for (const one of tree(pid)) {
    try {
      const stat = fs.readFileSync(`/proc/${one}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      user += Number(fields[11]) * TICK_US;
      system += Number(fields[12]) * TICK_US;
    } catch {}
  }
  return { user, system };
}
function memory(pid) {
  let rss = 0, pss = 0, peak = 0;
  for (const one of tree(pid)) {
    try {
      const roll = fs.readFileSync(`/proc/${one}/smaps_rollup`, "utf8");
      rss += Number(/^Rss:\s+(\d+)/m.exec(roll)[1]) / 1024;
      pss += Number(/^Pss:\s+(\d+)/m.exec(roll)[1]) / 1024;
      peak += Number(/^VmHWM:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${one}/status`, "utf8"))[1]) / 1024;
    } catch {}
  }
  return { rss, pss, peak };
}

async function answers(url, within = 15000) {
  const begun = performance.now();
  for (;;) {
    const { status } = spawnSync("curl", ["-s", "-o", "/dev/null", "--max-time", "2", url]);
    if (status === 0) return performance.now() - begun;
    if (performance.now() - begun > within) throw new Error(`nothing answers at ${url}`);
    await sleep(2);
  }
}

// ---- Sign-in -----------------------------------------------------------------------------------------------------------

/** One GET, with no more headers than these: fetch would add some that say it is a script. */
function get(url, headers) {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { headers: { accept: "text/html,application/json", ...headers }, agent: false }, (answer) => {
      let body = "";
      answer.on("data", (piece) => (body += piece));
      answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, body }));
    });
    request.on("error", reject);
  });
}

/** Follows redirects as a browser does, and gives the cookies of the last host. */
async function signIn(url) {
  const jars = new Map();
  for (let hop = 0; hop < 10; hop++) {
    const jar = jars.get(new URL(url).host) ?? new Map();
    jars.set(new URL(url).host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await get(url, cookie ? { cookie } : {});
    for (const line of answer.headers["set-cookie"] ?? []) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line);
      if (/max-age=0\b|expires=thu, 01.jan.1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    const place = answer.headers.location;
    if (!place) {
      if (answer.status >= 400) throw new Error(`sign-in ended with ${answer.status} at ${url}`);
      return [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    }
    url = new URL(place, url).href;
  }
  throw new Error("sign-in goes round in circles");
}

// ---- Measuring ---------------------------------------------------------------------------------------------------------

async function wrk(url, headers, { body, connections = 32, time = seconds }) {
  const words = ["wrk", "-t1", `-c${connections}`, `-d${time}s`, "--latency"];
  if (body) {
    const script = path.join(folder, "post.lua");
    fs.writeFileSync(script, `wrk.method = "POST"\nwrk.body = [[${body}]]\n`);
    words.push("-s", script);
  }
  for (const header of headers) words.push("-H", header);
  const [program, ...rest] = pinned(0, [...words, url]);
  const out = await new Promise((resolve) => {
    let text = "";
    const child = spawn(program, rest, { env: PATHS });
    child.stdout.on("data", (piece) => (text += piece));
    child.on("close", () => resolve(text));
  });
  if (/Non-2xx|Socket errors/.test(out)) throw new Error(`${url}: ${/(Non-2xx.*|Socket errors.*)/.exec(out)[1]}`);
  const time_of = (line) => {
    const [, value, unit] = new RegExp(`${line}%\\s+([\\d.]+)(us|ms|s)`).exec(out);
    return Number(value) * { us: 0.001, ms: 1, s: 1000 }[unit];
  };
  return { requests: Number(/(\d+) requests in/.exec(out)[1]), rate: Number(/Requests\/sec:\s+([\d.]+)/.exec(out)[1]), p50: time_of(50), p99: time_of(99) };
}

async function transfer(url, headers, upload) {
  const words = ["-s", "-o", "/dev/null", "-w", "%{http_code} %{time_total} %{size_download} %{size_upload}"];
  for (const header of headers) words.push("-H", header);
  if (upload) words.push("-H", "expect:", "-F", `file=@${upload};filename=app.jar`);
  const [program, ...rest] = pinned(0, ["curl", ...words, url]);
  const out = await new Promise((resolve) => {
    let text = "";
    const child = spawn(program, rest);
    child.stdout.on("data", (piece) => (text += piece));
    child.on("close", () => resolve(text));
  });
  const [code, time, down, up] = out.split(" ").map(Number);
  if (code !== 200) throw new Error(`${url}: ${code}`);
  return { requests: Math.max(down, up) / 1e9, rate: Math.max(down, up) / 1e6 / time, p50: time * 1000, p99: time * 1000 };
}

const SCENES = {
  get2k: { title: "Authenticated GET, 2 KB, passed on", path: "/scanner/api/v1/domain-ownership/random-content?domain=example.com" },
  hit2k: { title: "GET, 2 KB, kept", path: "/scanner/api/v1/tasks/t1" },
  get64k: { title: "GET, 64 KB, passed on", path: "/scanner/api/v1/domain-ownership/random-content?domain=large.example" },
  post1k: { title: "POST, 1 KB", path: "/scanner/api/v1/network-diagnostics", body: JSON.stringify({ target: "x".repeat(1000) }) },
  one: { title: "GET, 2 KB, one connection", path: "/scanner/api/v1/domain-ownership/random-content?domain=example.com", connections: 1 },
  down: { title: "256 MB down", path: "/scanner/api/v2/tasks/t1/report?type=pdf", stream: true },
  up: { title: "1 GB up", path: "/scanner/api/v1/files/upload", stream: true, upload: true },
  check: { title: "1 GB up, its sha256 checked on the way", path: "/scanner/api/v1/files/upload", stream: true, upload: true, checked: true },
};

async function measure(server, key, child, session) {
  const scene = SCENES[key];
  const base = scene.upload && server.uploads ? server.uploads : server.base;
  let url = `${base}${server.path?.(scene.path, key) ?? scene.path}`;
  if (scene.checked) url += `?sha256=${uploadHash()}`;
  const headers = [...(session[scene.upload ? "uploads" : "plain"] ?? [])];
  if (scene.body) headers.push("content-type: application/json");
  if (!scene.stream) await wrk(url, headers, { ...scene, time: 1 });
  const before = [cpu(child.pid), cpu(redis.pid)], rest = memory(child.pid);
  const result = scene.stream ? await transfer(url, headers, scene.upload && largeFile()) : await wrk(url, headers, scene);
  const after = [cpu(child.pid), cpu(redis.pid)];
  const per = (name, at) => (after[at][name] - before[at][name]) / result.requests;
  const sum = (at) => per("user", at) + per("system", at);
  return { ...result, cpu: sum(0), user: per("user", 0), system: per("system", 0), redis: sum(1), grown: memory(child.pid).peak - rest.rss };
}

const largeFile = () => path.join(folder, "upload.bin");
let hash;
function uploadHash() {
  // Of the form as it is sent the file alone counts.
  hash ??= execFileSync("sha256sum", [largeFile()]).toString().slice(0, 64);
  return hash;
}

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];

// ---- The run -----------------------------------------------------------------------------------------------------------

let redis;
const rows = new Map();
async function run() {
  install();
  const binary = build();
  arrange(folder, { key: crypto.randomBytes(32).toString("base64") });
  redis = start(0, ["redis-server", "--port", String(ports.redis), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
  start(0, ["node", path.join(here, "stub.mjs"), String(ports.provider), String(ports.uploads)], { log: `${folder}/stub.log` });
  start(0, ["nginx", "-c", `${folder}/upstream.conf`, "-p", folder]);
  await answers(`http://127.0.0.1:${ports.provider}/keys`);
  await answers(`http://127.0.0.1:${ports.upstream}/`);
  const all = servers(folder, binary).filter(({ name }) => isAsked(name));
  const scenes = Object.keys(SCENES).filter((key) => !flags.scenes || flags.scenes.split(",").includes(key));
  let text = "";
  for (let round = 0; round < rounds; round++) {
    for (const server of round % 2 ? [...all].reverse() : all) await visit(server, scenes, round);
    // After each round: what was measured is not lost with the run.
    text = report(all, scenes, binary, round + 1);
    fs.writeFileSync(flags.output, text);
  }
  console.log(text);
}

async function visit(server, scenes, round) {
  const child = start(1, server.command, { env: server.env, log: server.log ?? `${folder}/${server.name}.log` });
  note(server.name, "start", { ms: await answers(server.ready) });
  await sleep(700);
  note(server.name, "idle", memory(child.pid));
  const session = server.signIn ? await server.signIn(signIn, get) : {};
  for (const key of scenes.filter((key) => server.scenes.includes(key))) {
    const result = await measure(server, key, child, session);
    note(server.name, key, result);
    const unit = SCENES[key].stream ? "ms/GB" : "us";
    const spent = SCENES[key].stream ? result.cpu / 1000 : result.cpu;
    console.log(`${round + 1} ${server.name.padEnd(12)} ${key.padEnd(7)} ${spent.toFixed(1)} ${unit}, ${result.rate.toFixed(0)}/s`);
  }
  note(server.name, "busy", memory(child.pid));
  await stop(child);
  for (const file of fs.readdirSync(folder).filter((name) => name.endsWith(".log"))) fs.truncateSync(path.join(folder, file));
}
function note(server, key, result) {
  const name = `${server} ${key}`;
  rows.set(name, [...(rows.get(name) ?? []), result]);
}

function report(all, scenes, binary, done) {
  const of = (name, key, field) => {
    const list = rows.get(`${name} ${key}`);
    return list && median(list.map((one) => one[field]));
  };
  const spread = (name, key) => {
    const list = rows.get(`${name} ${key}`).map((one) => one.cpu);
    return `${number(Math.min(...list), key)} to ${number(Math.max(...list), key)}`;
  };
  const number = (value, key) => (SCENES[key]?.stream ? (value / 1000).toFixed(0) : value.toFixed(1));
  const version = (...command) => {
    const { stdout, stderr } = spawnSync(command[0], command.slice(1), { env: PATHS, encoding: "utf8" });
    return `${stdout}${stderr}`.split("\n").find((line) => /\d\.\d/.test(line))?.trim();
  };
  const out = [
    "# Cost of the gateway beside its peers", "",
    `Written by \`tests/bench/run\` on ${new Date().toISOString().slice(0, 10)}; medians of ${done} interleaved rounds of ${seconds} s.`, "",
    `Machine: ${os.cpus()[0].model.trim()}, ${os.cpus().length} processors, Linux ${os.release()}; load over the last five minutes ${os.loadavg()[1].toFixed(1)}.  `,
    `${[version("nginx", "-v"), version("haproxy", "-v"), version("apache2", "-v"), `mod_auth_openidc ${version("dpkg-query", "-W", "libapache2-mod-auth-openidc")?.split("\t")[1]}`, version("redis-server", "-v"), version(binary, "--version")].join("; ")}.`, "",
  ];
  for (const key of scenes) {
    const { title, stream } = SCENES[key];
    const here = all.filter(({ name }) => rows.has(`${name} ${key}`));
    const bar = of(key === "hit2k" ? "nginx-cache" : "nginx", key, "cpu") ?? of("nginx", key, "cpu");
    out.push(`## ${title}`, "");
    out.push(`| server | CPU ${stream ? "ms/GB" : "µs/request"} | least to most | user | system | to nginx | Redis | ${stream ? "MB/s" : "requests/s"} | p50 ms | ${stream ? "memory grown MiB" : "p99 ms"} |`);
    out.push("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (const { name, about } of here) {
      const get = (field) => of(name, key, field);
      out.push(`| ${about} | ${number(get("cpu"), key)} | ${spread(name, key)} | ${number(get("user"), key)} | ${number(get("system"), key)} | ${bar ? (get("cpu") / bar).toFixed(2) : ""} | ${number(get("redis"), key)} | ${get("rate").toFixed(0)} | ${get("p50").toFixed(2)} | ${stream ? get("grown").toFixed(1) : get("p99").toFixed(2)} |`);
    }
    out.push("");
  }
  out.push("## Memory and start", "", "| server | first answer ms | idle RSS MiB | idle PSS MiB | RSS after all of the above MiB |", "|---|--:|--:|--:|--:|");
  for (const { name, about } of all) {
    out.push(`| ${about} | ${of(name, "start", "ms").toFixed(0)} | ${of(name, "idle", "rss").toFixed(1)} | ${of(name, "idle", "pss").toFixed(1)} | ${of(name, "busy", "rss").toFixed(1)} |`);
  }
  return `${out.join("\n")}\n`;
}

process.on("SIGINT", () => process.exit(130));
process.on("exit", () => {
  for (const child of children) {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {}
  }
  if (process.env.BENCH_KEEP) console.log(folder);
  else fs.rmSync(folder, { recursive: true, force: true });
});
await run();
process.exit(0);
