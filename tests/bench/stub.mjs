// What the servers under measurement need beside them: an identity provider that signs everybody in at once (OpenID Connect
// with discovery and RS256), and an upstream that takes uploads at the pace they come. For tests/bench/run only.
import crypto from "node:crypto";
import http from "node:http";
import net from "node:net";

const [providerPort, uploadPort] = process.argv.slice(2).map(Number);
const issuer = `http://127.0.0.1:${providerPort}`;
const { privateKey, publicKey } = crypto.generateKeyPairSync("rsa", { modulusLength: 2048 });
const jwk = { ...publicKey.export({ format: "jwk" }), kid: "k1", alg: "RS256", use: "sig" };
const person = {
  sub: "alice", user_id: "alice", name: "Alice", email: "alice@acme.example", email_verified: true,
  organization: "acme", roles: ["administrator"],
};
const codes = new Map();

const base64 = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
function signed(claims) {
  const text = `${base64({ alg: "RS256", kid: "k1", typ: "JWT" })}.${base64(claims)}`;
  return `${text}.${crypto.sign("sha256", Buffer.from(text), privateKey).toString("base64url")}`;
}

function tokens(code) {
  const { nonce, client } = codes.get(code) ?? {};
  const now = Math.floor(Date.now() / 1000);
  const common = { iss: issuer, aud: client ?? "portal", sub: person.sub, iat: now, exp: now + 36000 };
  // An access token of the usual 800 bytes.
  return {
    access_token: signed({ ...common, scope: "openid", jti: crypto.randomBytes(120).toString("hex") }),
    refresh_token: crypto.randomBytes(24).toString("hex"),
    id_token: signed({ ...common, ...(nonce ? { nonce } : {}) }),
    token_type: "Bearer",
    expires_in: 36000,
  };
}

http
  .createServer(async (request, response) => {
    const url = new URL(request.url, issuer);
    let body = "";
    for await (const chunk of request) body += chunk;
    const json = (value) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(value));
    };
    switch (url.pathname) {
      case "/.well-known/openid-configuration":
        return json({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          userinfo_endpoint: `${issuer}/userinfo`,
          jwks_uri: `${issuer}/keys`,
          response_types_supported: ["code"],
          subject_types_supported: ["public"],
          id_token_signing_alg_values_supported: ["RS256"],
          token_endpoint_auth_methods_supported: ["client_secret_post", "client_secret_basic"],
          code_challenge_methods_supported: ["S256"],
        });
      case "/keys":
        return json({ keys: [jwk] });
      case "/authorize": {
        const code = crypto.randomBytes(16).toString("hex");
        codes.set(code, { nonce: url.searchParams.get("nonce"), client: url.searchParams.get("client_id") });
        const back = new URL(url.searchParams.get("redirect_uri"));
        back.searchParams.set("code", code);
        back.searchParams.set("state", url.searchParams.get("state"));
        response.writeHead(302, { location: back.href });
        return response.end();
      }
      case "/token":
        return json(tokens(new URLSearchParams(body).get("code")));
      case "/userinfo":
        return json(person);
      default:
        response.writeHead(404);
        return response.end();
    }
  })
  .listen(providerPort, "127.0.0.1");

// Bytes are counted and dropped; HTTP only as far as it is needed for that. Chunked bodies end with the last chunk.
net
  .createServer((socket) => {
    let head = Buffer.alloc(0), left = -1, tail = "";
    const done = () => {
      left = -1;
      tail = "";
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}");
    };
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      if (left === -1) {
        head = Buffer.concat([head, chunk]);
        const end = head.indexOf("\r\n\r\n");
        if (end < 0) return;
        const length = /\r\ncontent-length: *(\d+)/i.exec(head.subarray(0, end + 2).toString("latin1"));
        left = length ? Number(length[1]) : Infinity;
        chunk = head.subarray(end + 4);
        head = Buffer.alloc(0);
      }
      if (left === Infinity) {
        tail = (tail + chunk.subarray(-8).toString("latin1")).slice(-8);
        if (tail.endsWith("0\r\n\r\n")) done();
      } else if ((left -= chunk.length) <= 0) done();
    });
  })
  .listen(uploadPort, "127.0.0.1");
