// A sign-in provider: a real one, with people of its own. Whoever signs in there types any password.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { Provider as OidcProvider } from 'oidc-provider';

const CLIENT = 'desk';
export const SECRET = 'hush hush: of the desk & its provider';

export class Provider {
  /** Who is known, by what they type there. What is changed counts from the next sign-in on. */
  people = {
    ann: { email: 'ann@house.test', email_verified: true, name: 'Ann', teams: ['post', 'gardeners'] },
    eve: { email: 'ann@house.test', email_verified: false, name: 'Eve', teams: [] },
  };

  /** On another site than the desk, as one is: `localhost` against `127.0.0.1`. */
  static async start() {
    const provider = new Provider();
    provider.server = http.createServer((request, response) => provider.answer(request, response));
    provider.server.listen(0, 'localhost');
    await once(provider.server, 'listening');
    provider.issuer = `http://localhost:${provider.server.address().port}`;
    return provider;
  }

  /** The lines of the catalogue. */
  table(more = '') {
    return `
[sign_in.oidc]
issuer = "${this.issuer}"
client_id = "${CLIENT}"
client_secret = { env = "OIDC_SECRET" }
label = "Sign in with House"
scopes = ["email", "profile", "teams"]
groups_claim = "teams"
groups = { post = "mailers" }
allow_http = true
allow_private = true
${more}
`;
  }

  /** Knows the desk at this address from now on. */
  serve(desk, secret = SECRET) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    this.oidc = new OidcProvider(this.issuer, {
      clients: [{ client_id: CLIENT, client_secret: secret, redirect_uris: [`${desk}/sign-in/oidc/callback`] }],
      claims: { email: ['email', 'email_verified'], profile: ['name'], teams: ['teams'] },
      cookies: { keys: [randomBytes(16).toString('hex')] },
      findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...this.people[id] }) }),
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] },
      pkce: { required: () => true },
      ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    });
    this.answer = this.oidc.callback();
  }

  /** Knows nobody yet. */
  answer(_, response) {
    response.writeHead(503).end();
  }

  async stop() {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

/** Tells the provider who it is, and agrees. */
export async function agree(page, who) {
  await page.getByRole('textbox', { name: 'login' }).fill(who);
  await page.getByPlaceholder('password').fill('anything');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}
