import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, CDPSession, Page, Route } from 'playwright-core';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { forFile } from '../../../support/for-file.ts';
import { startConsole } from '../../../support/service/console.ts';
import { useBrowser } from '../../../support/runner/use-browser.ts';

const browser = useBrowser();
const console = await forFile(startConsole());

let context: BrowserContext;
let page: Page;
let device: CDPSession;
let authenticatorId: string;
/** A new name for each test, so that each has its own passkeys. */
let name: string;
let made = 0;
beforeEach(async () => {
  name = `person ${(made += 1)}`;
  context = await browser().newContext();
  onTestFinished(() => context.close());
  page = await context.newPage();
  device = await context.newCDPSession(page);
  await device.send('WebAuthn.enable');
  ({ authenticatorId } = await device.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  }));
});

const goTo = (path: string) => page.goto(`${console.baseUrl}${path}`);
const heading = (text: string) => page.getByRole('heading', { name: text, level: 1 }).waitFor();
const logIn = async () => {
  const { cookie: session } = await console.logIn('admin', name);
  const [cookieName = '', value = ''] = session.split('=');
  await context.addCookies([{ name: cookieName, value, url: console.baseUrl }]);
};
const addPasskey = async (label = 'Laptop') => {
  await logIn();
  await goTo('/me/passkeys');
  await page.getByLabel('Name of the device').fill(label);
  await page.getByRole('button', { name: 'Add' }).click();
  await heading('You');
};
const logOut = async () => {
  await context.clearCookies();
  await goTo('/login');
};
const isLoggedIn = async () => {
  await goTo('/payments');
  return new URL(page.url()).pathname === '/payments';
};
const usePasskey = () => page.getByRole('button', { name: 'Log in with a passkey' }).click();

/** The form that the page would send with the device's answer, and the cookie of the browser. */
const answerOfDevice = async () => {
  await goTo('/login');
  const { promise: body, resolve } = Promise.withResolvers<string>();
  const keep = async (route: Route) => {
    // The browser stays on its page.
    await route.fulfill({ status: 204 });
    resolve(route.request().postData() ?? '');
  };
  await page.route('**/login/passkey', keep, { times: 1 });
  await usePasskey();
  const form = Object.fromEntries(new URLSearchParams(await body));
  return { form, cookie: await cookie() };
};
const cookie = async () =>
  (await context.cookies(console.baseUrl)).map((one) => `${one.name}=${one.value}`).join('; ');
const send = async (form: Record<string, string>, sentCookie: string) => {
  const options = { method: 'POST', form, cookie: sentCookie };
  const { status, headers, text } = await console.call('/login/passkey', options);
  const [, title] = /<h1>(.*)<\/h1>/.exec(text) ?? [];
  return { status, title, hasSession: String(headers['set-cookie']).includes('console=') };
};
/** The challenge of a new login, as JSON, and the cookie that belongs to it. */
const begin = async () => {
  const call = { method: 'POST', form: {} };
  const { headers, text } = await console.call('/login/passkey/options', call);
  const [attempt = ''] = headers['set-cookie']?.[0]?.split(';') ?? [];
  return { options: text, attempt };
};
const accepted = { status: 303, title: undefined, hasSession: true };
const refused = { status: 403, title: 'The passkey is refused', hasSession: false };
const tooOld = { status: 410, title: 'The login is too old', hasSession: false };

describe('a passkey', () => {
  it('logs in the person who added it', async () => {
    await goTo(
      `/login/${await console.links.issueLink(name, { role: 'admin', applications: null })}`,
    );
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('link', { name }).click();
    await page.getByRole('link', { name: 'Add a passkey' }).click();
    await page.getByLabel('Name of the device').fill('Ada’s laptop');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('cell', { name: 'Ada’s laptop' }).waitFor();
    await page.getByRole('button', { name: 'Log out', exact: true }).click();
    await heading('Log in');
    await usePasskey();
    await heading('Overview');
    await page.getByRole('link', { name }).waitFor();
    expect(
      await console.sql`
      select via from console_sessions where name = ${name} and ended_at is null`,
    ).toEqual([{ via: 'passkey' }]);
    const records = await console.sql`
      select actor, action, after, via from audit_log where subject = ${`person:${name}`}
      order by id`;
    const record = { actor: name, via: 'console' };
    expect(records).toEqual([
      { ...record, action: 'console.login', after: { via: 'link' } },
      { ...record, action: 'passkey.add', after: { label: 'Ada’s laptop' } },
      { ...record, action: 'console.login', after: { via: 'passkey' } },
    ]);
  });

  it('proves the person again, and leads back to the page that wanted it', async () => {
    await addPasskey();
    await console.sql`
      update console_sessions set proved_at = now() - interval '11 minutes' where name = ${name}`;
    await goTo('/me/passkeys');
    await heading('Log in again first');
    await usePasskey();
    await heading('Add a passkey');
    expect(
      await console.sql`
      select from console_sessions where name = ${name} and ended_at is null`,
    ).toHaveLength(1);
  });

  it('logs nobody in after it was removed', async () => {
    await addPasskey();
    await page.getByRole('link', { name: 'Remove' }).click();
    await page.getByLabel('Reason').fill('lost');
    await page.getByRole('button', { name: 'Remove' }).click();
    await heading('You');
    await page.getByText('You have no passkey.').waitFor();
    await logOut();
    await usePasskey();
    await heading('The passkey is refused');
    expect(await isLoggedIn()).toBe(false);
  });

  it('is not added a second time on the same device', async () => {
    await addPasskey();
    await goTo('/me/passkeys');
    await page.getByLabel('Name of the device').fill('again');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByText('This device has a passkey of yours already.').waitFor();
    expect(
      await console.sql`
      select from console_passkeys where name = ${name}`,
    ).toHaveLength(1);
  });

  it('is of no use to a device that cannot verify its owner', async () => {
    await addPasskey();
    await logOut();
    await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await usePasskey();
    await page.getByText('The device used no passkey (NotAllowedError)').waitFor();
    expect(await isLoggedIn()).toBe(false);
  });

  it('keeps its challenges and answers out of the log', async () => {
    await addPasskey();
    await logOut();
    const { form, cookie: sent } = await answerOfDevice();
    expect(await send(form, sent)).toEqual(accepted);
    const written = JSON.stringify(console.lines);
    expect(written).toContain('/login/passkey');
    const { id, response } = JSON.parse(form['response'] ?? '') as {
      id: string;
      response: Record<string, string>;
    };
    for (const secret of [id, response['signature'], response['clientDataJSON']])
      expect(written).not.toContain(secret);
  });
});

describe('the answer of a device is refused', () => {
  beforeEach(async () => {
    await addPasskey();
    await logOut();
  });

  it('when it comes a second time', async () => {
    const { form, cookie: sent } = await answerOfDevice();
    expect(await send(form, sent)).toEqual(accepted);
    expect(await send(form, sent)).toEqual(tooOld);
  });

  it('when it belongs to another challenge', async () => {
    const { form } = await answerOfDevice();
    const { cookie: later } = await answerOfDevice();
    expect(await send(form, later)).toEqual(refused);
  });

  it('of a person who has not logged in at the identity provider for seven days', async () => {
    const { form, cookie: sent } = await answerOfDevice();
    const account = { email: 'ada@example.com', issuer: 'https://id.example', subject: 'ada' };
    const seen = (days: number) => console.sql`
      update console_people set ${console.sql(account)}, account_seen_at = now() - ${days} * interval '1 day'
      where name = ${name}`;
    await seen(8);
    expect(await send(form, sent)).toEqual(refused);
    await seen(6);
    const again = await answerOfDevice();
    expect(await send(again.form, again.cookie)).toEqual(accepted);
    await console.sql`
      update console_people set email = null, issuer = null, subject = null where name = ${name}`;
  });

  it('when its counter is not higher than the last one', async () => {
    const { form, cookie: sent } = await answerOfDevice();
    await console.sql`update console_passkeys set counter = 1000 where name = ${name}`;
    expect(await send(form, sent)).toEqual(refused);
  });

  it('when it cannot be read', async () => {
    for (const response of ['', '{', '{}', 'null', '[]', '{"id":"AA","type":"public-key"}']) {
      const { attempt } = await begin();
      expect(await send({ response }, attempt), response).toEqual(refused);
    }
  });

  it('when another passkey would have signed it', async () => {
    const { form, cookie: sent } = await answerOfDevice();
    await console.sql`
      update console_passkeys set public_key = (
        select public_key from console_passkeys where name <> ${name} limit 1) where name = ${name}`;
    expect(await send(form, sent)).toEqual(refused);
  });

  /** Signs a challenge of ours with options of the caller's own, at any address of the same name. */
  const signAt = async (address: string, userVerification: 'required' | 'discouraged') => {
    const { options, attempt } = await begin();
    await page.goto(address);
    const response = await page.evaluate(
      `navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(
        { ...${options}, userVerification: '${userVerification}' }) }).then(JSON.stringify)`,
    );
    return send({ response: String(response) }, attempt);
  };

  it('when the device did not verify its owner', async () => {
    await device.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    expect(await signAt(`${console.baseUrl}/login`, 'discouraged')).toEqual(refused);
  });

  it('when it was given to a page of another port', async () => {
    expect(await signAt(`${console.baseUrl}/login`, 'required')).toEqual(accepted);
    const other = createServer((_, res) => res.setHeader('content-type', 'text/html').end('<p>'));
    onTestFinished(() => void other.close());
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo; // It listens on TCP.
    expect(await signAt(`http://console.localhost:${port}`, 'required')).toEqual(refused);
  });
});
