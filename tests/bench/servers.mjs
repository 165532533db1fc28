// The servers under measurement and how each is set up: as its own handbook advises for speed, with one worker on one core,
// connections kept to the upstream, no temporary files. For tests/bench/run only.
import fs from "node:fs";
import path from "node:path";

export const ports = {
  provider: 21801, uploads: 21802, upstream: 21803, redis: 21804,
  nginx: 21810, haproxy: 21811, apache: 21812, gateway: 21813, operations: 21814,
};
const at = (port) => `http://127.0.0.1:${port}`;

const padded = (value, length) => JSON.stringify({ ...value, filler: "x".repeat(length - JSON.stringify(value).length - 13) });

/** Writes all configurations and bodies into `folder`. */
export function arrange(folder, { key }) {
  const put = (name, text) => fs.writeFileSync(path.join(folder, name), text);
  fs.mkdirSync(`${folder}/www`);
  put("www/small.json", padded({ content: "cardea-verification" }, 2048));
  put("www/task.json", padded({ taskId: "t1", taskStatus: "SUCCESS", taskName: "bench" }, 2048));
  put("www/large.json", padded({ content: "cardea-verification" }, 65536));
  put("www/posted.json", padded({ id: "d1" }, 256));
  for (const [name, size] of [["www/report.pdf", 256e6], ["upload.bin", 1e9]]) {
    put(name, "");
    fs.truncateSync(path.join(folder, name), size);
  }
  put("upstream.conf", upstream(folder));
  put("nginx.conf", nginx(folder));
  put("haproxy.cfg", haproxy());
  put("apache.conf", apache(folder));
  put("gateway.toml", gateway(key));
}

const NGINX = `daemon off;
worker_processes 1;
error_log stderr crit;
events { worker_connections 4096; }
`;

// Temporary paths: nginx makes them even where nothing is ever put there.
const PATHS = (folder, name) =>
  ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${folder}/${name}-${kind};`).join("\n  ");

const upstream = (folder) => `${NGINX}pid ${folder}/upstream.pid;
http {
  access_log off;
  ${PATHS(folder, "upstream")}
  sendfile on; tcp_nopush on;
  keepalive_requests 100000000;
  open_file_cache max=100 inactive=1h; open_file_cache_valid 1h;
  default_type application/json;
  types { application/pdf pdf; }
  map $arg_domain $content { default small; large.example large; }
  server {
    listen 127.0.0.1:${ports.upstream} backlog=4096;
    root ${folder}/www;
    location = / { return 200 "{}"; }
    location = /scanner/api/v1/domain-ownership/random-content { rewrite ^ /$content.json break; }
    location = /scanner/api/v1/tasks/t1 { rewrite ^ /task.json break; }
    location = /scanner/api/v2/tasks/t1/report { rewrite ^ /report.pdf break; }
    location = /scanner/api/v1/network-diagnostics { return 200 '${padded({ id: "d1" }, 256)}'; }
  }
}
`;

const nginx = (folder) => `${NGINX}pid ${folder}/nginx.pid;
http {
  access_log off;
  ${PATHS(folder, "nginx")}
  tcp_nodelay on;
  keepalive_requests 100000000;
  client_max_body_size 0;
  log_format json escape=json '{"time":"$time_iso8601","id":"$request_id","method":"$request_method","uri":"$uri","status":$status,"took":$request_time,"caller":"$remote_addr"}';
  proxy_cache_path ${folder}/kept keys_zone=kept:10m levels= use_temp_path=off;
  upstream service { server 127.0.0.1:${ports.upstream}; keepalive 256; keepalive_requests 100000000; }
  upstream uploads { server 127.0.0.1:${ports.uploads}; keepalive 16; }
  proxy_http_version 1.1;
  proxy_set_header Connection "";
  proxy_max_temp_file_size 0;
  proxy_request_buffering off;
  server {
    listen 127.0.0.1:${ports.nginx} backlog=4096;
    location / { proxy_pass http://service; }
    location = /scanner/api/v1/files/upload { proxy_pass http://uploads; }
    location /logged/ { access_log ${folder}/nginx-access.log json; proxy_pass http://service/; }
    # Of its variants the quickest: sendfile off and nopush off.
    location /kept/ { proxy_cache kept; proxy_cache_valid 200 1h; proxy_pass http://service/; }
    location /kept-logged/ { access_log ${folder}/nginx-access.log json; proxy_cache kept; proxy_cache_valid 200 1h; proxy_pass http://service/; }
  }
}
`;

const haproxy = () => `global
  nbthread 1
  maxconn 4096
  tune.bufsize 16384
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  option http-keep-alive
cache kept
  total-max-size 64
  max-object-size 100000
  max-age 3600
frontend all
  bind 127.0.0.1:${ports.haproxy}
  use_backend uploads if { path /scanner/api/v1/files/upload }
  use_backend kept if { path_beg /kept/ }
  default_backend service
backend service
  http-reuse always
  server s 127.0.0.1:${ports.upstream}
backend uploads
  server s 127.0.0.1:${ports.uploads}
backend kept
  http-request set-path %[path,regsub(^/kept,)]
  http-request cache-use kept
  http-response set-header Cache-Control max-age=3600
  http-response cache-store kept
  server s 127.0.0.1:${ports.upstream}
`;

const apache = (folder) => `ServerRoot ${folder}
PidFile ${folder}/apache.pid
DefaultRuntimeDir ${folder}
ErrorLog ${folder}/apache-error.log
LogLevel error
ServerName 127.0.0.1
Listen 127.0.0.1:${ports.apache}
${["mpm_event", "authn_core", "authz_core", "authz_user", "proxy", "proxy_http", "auth_openidc"].map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join("\n")}
StartServers 1
ServerLimit 1
ThreadsPerChild 64
MaxRequestWorkers 64
KeepAlive On
MaxKeepAliveRequests 0
OIDCProviderMetadataURL ${at(ports.provider)}/.well-known/openid-configuration
OIDCClientID portal
OIDCClientSecret secret
OIDCRedirectURI ${at(ports.apache)}/callback
OIDCCryptoPassphrase 0123456789abcdef0123456789abcdef
OIDCCacheType redis
OIDCRedisCacheServer 127.0.0.1:${ports.redis}
OIDCSSLValidateServer Off
OIDCCookieSameSite On
# What its documentation offers for speed.
OIDCCacheEncrypt Off
OIDCPassClaimsAs environment
OIDCPassUserInfoAs claims
<Location />
  AuthType openid-connect
  Require valid-user
</Location>
ProxyPass /callback !
ProxyPass /scanner/api/v1/files/upload ${at(ports.uploads)}/scanner/api/v1/files/upload
ProxyPass / ${at(ports.upstream)}/ keepalive=On
`;

// Everything on; only the rates are out of the way. Two hosts of one company each: the second for uploads, which go to a
// service of their own.
const tenant = (id, host, service) => `
[gateway.tenants.${id}]
name = "${id}"
hosts = ["${host}"]
public_url = "http://${host}"
[gateway.tenants.${id}.identity]
profile = "oidc"
scopes = ["openid"]
auth_url = "${at(ports.provider)}"
client_id = "portal"
client_secret = "secret"
[gateway.tenants.${id}.service]
base_url = "${service}"
`;
const gateway = (key) => `[telemetry]
format = "json"
[gateway.server]
listen = "127.0.0.1:${ports.gateway}"
workers = 1
[gateway.operations]
listen = "127.0.0.1:${ports.operations}"
[gateway.session]
cookie_name = "cardea"
[gateway.store]
backend = "redis"
redis_url = "redis://127.0.0.1:${ports.redis}/0"
[gateway.api.rate]
per_tenant = 0
per_caller = 0
per_network = 0
[[gateway.keys]]
id = "k1"
key = "${key}"
${tenant("acme", `127.0.0.1:${ports.gateway}`, at(ports.upstream))}${tenant("uploads", `localhost:${ports.gateway}`, at(ports.uploads))}`;

/** The servers, in the order of the table. */
export function servers(folder, binary) {
  const web = ["get2k", "get64k", "post1k", "one", "down", "up"];
  const nginxOf = (name, about, prefix, scenes) => ({
    name, about, scenes, base: at(ports.nginx), ready: `${at(ports.nginx)}/`,
    command: ["nginx", "-c", `${folder}/nginx.conf`, "-p", folder],
    path: (plain, key) => (key === "up" ? plain : prefix + plain),
  });
  return [
    nginxOf("nginx", "nginx, plain proxy, nobody asked who it is", "", web),
    nginxOf("nginx-log", "nginx, the same with a JSON access log", "/logged", ["get2k", "get64k"]),
    nginxOf("nginx-cache", "nginx, proxy_cache, nobody asked who it is", "/kept", ["hit2k"]),
    nginxOf("nginx-cache-log", "nginx, the same with a JSON access log", "/kept-logged", ["hit2k"]),
    {
      name: "haproxy", about: "HAProxy, nobody asked who it is", scenes: [...web, "hit2k"], base: at(ports.haproxy), ready: `${at(ports.haproxy)}/`,
      command: ["haproxy", "-db", "-f", `${folder}/haproxy.cfg`],
      path: (plain, key) => (key === "hit2k" ? `/kept${plain}` : plain),
    },
    {
      name: "gateway", about: "**Cardea, session, everything on**", scenes: [...web, "hit2k", "check"], base: at(ports.gateway), uploads: `http://localhost:${ports.gateway}`,
      ready: `${at(ports.operations)}/livez`, command: [binary, "serve", "--config", `${folder}/gateway.toml`],
      async signIn(follow, get) {
        const session = async (host) => {
          const cookie = await follow(`http://${host}/auth/login?return_to=/account/sessions`);
          const { csrf } = JSON.parse((await get(`http://${host}/session`, { cookie })).body);
          return [`cookie: ${cookie}`, `origin: http://${host}`, `x-csrf-token: ${csrf}`];
        };
        return { plain: await session(`127.0.0.1:${ports.gateway}`), uploads: await session(`localhost:${ports.gateway}`) };
      },
    },
    {
      name: "oidc", about: "Apache, mod_auth_openidc on Redis", scenes: ["get2k", "get64k", "post1k", "one", "down", "up"], base: at(ports.apache),
      ready: `${at(ports.apache)}/`, command: ["apache2", "-DFOREGROUND", "-f", `${folder}/apache.conf`],
      async signIn(follow) {
        const headers = [`cookie: ${await follow(`${at(ports.apache)}/`)}`];
        return { plain: headers, uploads: headers };
      },
    },
  ];
}
