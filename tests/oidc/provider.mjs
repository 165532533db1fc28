// A certified OpenID provider on loopback for the sign-in tests: one confidential client, PKCE required, refresh tokens that are
// used up, sign-out with a question, back-channel logout, plain forms.
// usage: node provider.mjs PORT REDIRECT_URI [AUTH [ENDS_BY [ACCESS_SECONDS [KEY_FILE]]]]; prints `ready ISSUER` once it accepts
// requests. AUTH: how the client shows itself (client_secret_post, client_secret_basic, private_key_jwt: then its new private key
// is written to KEY_FILE). ENDS_BY: `sid` or `sub`, what logout tokens name. GET /seen tells what it has done.
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import Provider from "oidc-provider";

const [port, redirectUri, auth = "client_secret_post", endsBy = "sid", accessSeconds = "3600", keyFile] = process.argv.slice(2);
const portal = new URL(redirectUri).origin;
const own = {};
if (auth === "private_key_jwt") {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  writeFileSync(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }));
  own.jwks = { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "portal-1", use: "sig", alg: "ES256" }] };
} else {
  own.client_secret = "portal-secret-of-the-tests";
}
const seen = { refreshes: 0, refusals: [], ended: [], failed: [] };
const server = createServer();
await new Promise((resolve) => server.listen(Number(port), "127.0.0.1", resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

const people = {
  dora: { name: "Dora Díaz <b>& Co</b>", email: "dora@acme.example", roles: ["administrator"] },
};

const provider = new Provider(issuer, {
  clients: [{
    client_id: "portal",
    ...own,
    redirect_uris: [redirectUri],
    post_logout_redirect_uris: [`${portal}/auth/signed-out`],
    backchannel_logout_uri: `${portal}/auth/backchannel-logout`,
    backchannel_logout_session_required: endsBy === "sid",
    response_types: ["code"],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: auth,
    ...(auth === "private_key_jwt" && { token_endpoint_auth_signing_alg: "ES256" }),
  }],
  pkce: { required: () => true },
  scopes: ["openid", "offline_access"],
  claims: { openid: ["sub"], profile: ["name", "roles"], email: ["email", "email_verified"] },
  features: {
    devInteractions: { enabled: false },
    revocation: { enabled: true },
    backchannelLogout: { enabled: true },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: (ctx, form) => {
        ctx.body = `<!doctype html><title>Sign out?</title>${form}<button form="op.logoutForm" name="logout" value="yes">Yes</button>`;
      },
    },
  },
  rotateRefreshToken: true,
  issueRefreshToken: (_, client) => client.grantTypeAllowed("refresh_token"),
  ttl: { AccessToken: Number(accessSeconds) },
  // Its own guard against calls into the local network would keep it from the portal of the tests, and its limit of 2.5 seconds
  // is short on a busy machine.
  fetch: (url, { dispatcher, signal, ...options }) => fetch(url, options),
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  cookies: { keys: ["a key for the tests only"] },
  findAccount: (_, id) => people[id] && { accountId: id, claims: () => ({ sub: id, email_verified: true, ...people[id] }) },
});

provider.on("grant.success", (ctx) => { if (ctx.oidc.params.grant_type === "refresh_token") seen.refreshes += 1; });
provider.on("grant.error", (_, error) => seen.refusals.push(error.error_detail ?? error.message));
provider.on("backchannel.success", (_, client, account, sid) => seen.ended.push({ account, sid }));
provider.on("backchannel.error", (_, error) => seen.failed.push(String(error)));

const readForm = async (request) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  return new URLSearchParams(text);
};

async function consent({ grantId, session, params, prompt }) {
  const grant = grantId ? await provider.Grant.find(grantId) : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  if (prompt.details.missingOIDCScope) grant.addOIDCScope(prompt.details.missingOIDCScope.join(" "));
  if (prompt.details.missingOIDCClaims) grant.addOIDCClaims(prompt.details.missingOIDCClaims);
  return grant.save();
}

async function interact(request, response) {
  const interaction = await provider.interactionDetails(request, response);
  if (request.method === "GET") {
    response.setHeader("content-type", "text/html; charset=utf-8");
    const login = interaction.prompt.name === "login" ? '<input name="login">' : "";
    response.end(`<!doctype html><title>${interaction.prompt.name}</title><form method="post" action="/interaction/${interaction.uid}">${login}<button>Go on</button><button name="leave" value="yes">Leave</button></form>`);
    return;
  }
  const form = await readForm(request);
  let result;
  if (form.has("leave")) result = { error: "access_denied", error_description: "left" };
  else if (interaction.prompt.name === "login") result = { login: { accountId: form.get("login") } };
  else result = { consent: { grantId: await consent(interaction) } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

const answer = provider.callback();
server.on("request", (request, response) => {
  if (request.url === "/seen") {
    response.setHeader("content-type", "application/json");
    return response.end(JSON.stringify(seen));
  }
  if (!request.url.startsWith("/interaction/")) return answer(request, response);
  return interact(request, response).catch((error) => {
    response.statusCode = 500;
    response.end(String(error));
  });
});
console.log(`ready ${issuer}`);
