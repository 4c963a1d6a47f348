// A certified authorization server (npm oidc-provider) on loopback, for one test.
//   node provider.mjs '{"port": 4321, "resource": "http://127.0.0.1:9/mcp", …}'
// Prints its issuer as one JSON line when it listens, and writes what happens as JSON lines to `log`.
// GET /--/token-status?is=503 makes the token endpoint answer that; 0 ends it. `&echo=1` lets it say
// in its error what it was sent, as some servers do.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { appendFileSync } from 'node:fs';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';

const {
  port = 0, resource, log, accessTtl = 3600, person = 'approves', registration = true,
  clients = [], deviceInterval,
} = JSON.parse(process.argv[2] ?? '{}');

const modules = pathToFileURL(`${process.env.JACKFIELD_NODE_MODULES}/x.js`);
const { default: Provider, interactionPolicy } = await import(
  pathToFileURL(createRequire(modules).resolve('oidc-provider')).href
);

const scopes = ['mcp:read', 'mcp:write'];
const server = createServer();
await new Promise((done, failed) => server.once('error', failed).listen(port, '127.0.0.1', done));
const issuer = `http://127.0.0.1:${server.address().port}`;
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), alg: 'RS256', use: 'sig' };
const note = (event, facts) => log && appendFileSync(log, `${JSON.stringify({ event, ...facts })}\n`);

const provider = new Provider(issuer, {
  jwks: { keys: [key] },
  cookies: { keys: [randomUUID()] },
  scopes: ['openid', 'offline_access', ...scopes],
  clients,
  clientDefaults: { token_endpoint_auth_method: 'none' },
  pkce: { required: () => true },
  routes: { authorization: '/authorize', registration: '/register', revocation: '/revoke' },
  interactions: { policy: interactionPolicy.base(), url: (_, { uid }) => `/person/${uid}` },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  rotateRefreshToken: true,
  issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
  expiresWithSession: () => false,
  ttl: { AccessToken: accessTtl, RefreshToken: 86400, Grant: 86400, Session: 3600, Interaction: 3600,
    AuthorizationCode: 60, DeviceCode: 600 },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: registration },
    deviceFlow: { enabled: true },
    revocation: { enabled: true },
    introspection: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: (_, __, oneOf) => oneOf?.[0] ?? resource,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, indicator) => ({
        scope: scopes.join(' '), audience: indicator, accessTokenTTL: accessTtl,
        accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
});

for (const name of ['registration_create.success', 'authorization.success', 'authorization.error',
  'grant.success', 'grant.error', 'grant.revoked', 'device_authorization.success']) {
  provider.on(name, (ctx, about) => note(name, {
    kind: ctx?.oidc?.params?.grant_type, client: ctx?.oidc?.client?.clientId,
    scope: ctx?.oidc?.params?.scope, error: about instanceof Error ? about.error ?? about.message : undefined,
  }));
}

async function answered(ctx, details) {
  const { prompt, params, session, grantId } = details;
  if (person === 'denies') return { error: 'access_denied', error_description: 'not today' };
  if (prompt.name === 'login') return { login: { accountId: 'alice' } };
  const grant = grantId ? await provider.Grant.find(grantId)
    : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  const missing = prompt.details;
  if (missing.missingOIDCScope) grant.addOIDCScope(missing.missingOIDCScope.join(' '));
  for (const [where, what] of Object.entries(missing.missingResourceScopes ?? {})) {
    grant.addResourceScope(where, what.join(' '));
  }
  return { consent: { grantId: await grant.save() } };
}

// `clicks`: a page whose script presses the button, so that it takes a browser to get on.
const button = `<!doctype html><title>Sign in</title><form method=post><button>Go on</button></form>
<script>document.forms[0].requestSubmit()</script>`;

let tokenStatus = 0, echoes = false;
provider.use(async (ctx, next) => {
  if (ctx.path === '/--/token-status') {
    tokenStatus = Number(ctx.query.is);
    echoes = ctx.query.echo === '1';
    ctx.body = 'ok';
  } else if (ctx.path === '/token' && tokenStatus) {
    let sent = '';
    for await (const part of ctx.req) sent += part;
    const said = [...new URLSearchParams(sent).values()].join(' ');
    ctx.status = tokenStatus;
    ctx.body = echoes ? { error: 'server_error', error_description: `not ${said}` } : 'out of order';
  } else if (!ctx.path.startsWith('/person/')) {
    await next();
  } else if (person === 'hesitates') {
    ctx.body = 'nobody is here';
  } else if (person === 'clicks' && ctx.method === 'GET') {
    ctx.type = 'html';
    ctx.body = button;
  } else {
    const details = await provider.interactionDetails(ctx.req, ctx.res);
    note('person', { prompt: details.prompt.name, agent: ctx.get('user-agent') });
    const result = await answered(ctx, details);
    ctx.respond = false;
    await provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: !!result.consent });
  }
});
server.on('request', provider.callback());
process.stdout.write(`${JSON.stringify({ issuer })}\n`);
process.on('SIGTERM', () => { server.closeAllConnections(); server.close(() => process.exit(0)); });
