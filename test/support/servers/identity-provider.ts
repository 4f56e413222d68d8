import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { text } from 'node:stream/consumers';
import { Provider } from 'oidc-provider';
import { listenOnLoopback } from './listen.ts';

export const client = { id: 'console', secret: 'a-client-secret-of-the-tests' };

/** The accounts, by what their owner types as login. Everybody else has a verified address too. */
const unverified = new Set(['eve']);

/** A certified OpenID provider on this machine, with its own pages for login and consent. */
export const startIdentityProvider = async (redirectUri: string) => {
  const server = createServer();
  const port = await listenOnLoopback(server);
  const issuer = new URL(`http://127.0.0.1:${port}`);
  const provider = new Provider(issuer.origin, {
    clients: [{ client_id: client.id, client_secret: client.secret, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    pkce: { required: () => true },
    findAccount: (_, login) => ({
      accountId: login,
      claims: () => ({
        sub: login,
        email: `${login}@Example.com`,
        email_verified: !unverified.has(login),
      }),
    }),
  });
  const handle = provider.callback();
  server.on('request', (req, res) => void handle(req, res));
  return {
    issuer,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

interface Visit {
  url: URL;
  status: number;
  text: string;
}

/** A browser without scripts: it keeps cookies by name of host, port and path, and follows redirects. */
export const createVisitor = () => {
  const jar = new Map<string, { host: string; path: string; name: string; value: string }>();

  const keep = (host: string, lines: readonly string[] = []) => {
    for (const line of lines) {
      const [pair = '', ...attributes] = line.split(/;\s*/);
      const name = pair.slice(0, pair.indexOf('='));
      const path = /path=([^;]*)/i.exec(attributes.join(';'))?.[1] ?? '/';
      jar.set(`${host} ${path} ${name}`, { host, path, name, value: pair.slice(name.length + 1) });
    }
  };

  const cookieFor = ({ host, pathname }: URL) =>
    [...jar.values()]
      .filter((one) => one.host === host && pathname.startsWith(one.path) && one.value !== '')
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');

  const send = async (url: URL, form?: Record<string, string>) => {
    const options: RequestOptions = {
      host: '127.0.0.1',
      port: url.port,
      path: url.pathname + url.search,
      method: form ? 'POST' : 'GET',
      headers: {
        host: url.host,
        cookie: cookieFor(url),
        'sec-fetch-site': 'same-origin',
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
    };
    const sent = httpRequest(options);
    sent.end(form && String(new URLSearchParams(form)));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    keep(url.host, response.headers['set-cookie']);
    return response;
  };

  /** @param isEnd stops before a redirect there */
  const open = async (
    url: URL,
    {
      form,
      isEnd = () => false,
    }: { form?: Record<string, string>; isEnd?: (url: URL) => boolean } = {},
  ): Promise<Visit> => {
    const response = await send(url, form);
    const { location } = response.headers;
    const body = await text(response);
    if (location === undefined) return { url, status: response.statusCode ?? 0, text: body };
    const next = new URL(location, url);
    if (isEnd(next)) return { url: next, status: 0, text: '' };
    return open(next, { isEnd });
  };

  return {
    open,
    cookieFor,
    /** Follows the console's login to the provider, and answers the provider's pages. @returns the way back */
    async logInAtProvider(start: URL, login: string): Promise<URL> {
      const isEnd = ({ host }: URL) => host === start.host;
      const visit = async (page: Visit): Promise<URL> => {
        if (page.url.host === start.host) return page.url;
        const form = /name="prompt" value="login"/.test(page.text)
          ? { prompt: 'login', login, password: 'any' }
          : { prompt: 'consent' };
        return visit(await open(page.url, { form, isEnd }));
      };
      return visit(await open(start, { isEnd }));
    },
  };
};
export type Visitor = ReturnType<typeof createVisitor>;
