// A certified OpenID provider on loopback for the sign-in tests: one confidential client, PKCE required, plain forms.
// usage: node provider.mjs PORT REDIRECT_URI; prints `ready ISSUER` once it accepts requests.
import { createServer } from "node:http";
import Provider from "oidc-provider";

const [port, redirectUri] = process.argv.slice(2);
const server = createServer();
await new Promise((resolve) => server.listen(Number(port), "127.0.0.1", resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

const people = {
  dora: { name: "Dora Díaz <b>& Co</b>", email: "dora@acme.example", roles: ["administrator"] },
};

const provider = new Provider(issuer, {
  clients: [{
    client_id: "portal",
    client_secret: "portal-secret-of-the-tests",
    redirect_uris: [redirectUri],
    response_types: ["code"],
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "client_secret_post",
  }],
  pkce: { required: () => true },
  scopes: ["openid", "offline_access"],
  claims: { openid: ["sub"], profile: ["name", "roles"], email: ["email", "email_verified"] },
  features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
  interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
  cookies: { keys: ["a key for the tests only"] },
  findAccount: (_, id) => people[id] && { accountId: id, claims: () => ({ sub: id, email_verified: true, ...people[id] }) },
});

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
  if (!request.url.startsWith("/interaction/")) return answer(request, response);
  return interact(request, response).catch((error) => {
    response.statusCode = 500;
    response.end(String(error));
  });
});
console.log(`ready ${issuer}`);
