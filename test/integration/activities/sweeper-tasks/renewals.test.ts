import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createRenewalTask } from '../../../../activities/sweeper-tasks/renewals.ts';
import { refundCredentialsOwner } from '../../../../contract/ids.ts';
import { createAdapters } from '../../../../gateways/adapters.ts';
import { createGatewayDispatchers } from '../../../../gateways/http.ts';
import { sealCredentials } from '../../../../gateways/registry.ts';
import { createGateways } from '../../../../postgres/gateways/gateways.ts';
import { createRenewals } from '../../../../postgres/gateways/renewals.ts';
import { createSecretBox } from '../../../../postgres/secrets/secret-box.ts';
import { startVandar } from '../../../fakes/vandar.ts';
import { startRecords } from '../../../support/data/records.ts';
import { forFile } from '../../../support/for-file.ts';
import { vandarRefunds } from '../../../support/gateways/vandar.ts';
import { readableLogger } from '../../../support/service/scripted-gateway.ts';
import { until } from '../../../support/until.ts';

const { sql } = await forFile(startRecords());
const gateways = createGateways(sql);
const { dispatcherOf } = createGatewayDispatchers();
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const keys = new Map([
  ['old', randomBytes(32)],
  ['new', randomBytes(32)],
]);
const box = createSecretBox({ currentId: 'old', keys });
const newBox = createSecretBox({ currentId: 'new', keys });
const unused = () => Promise.reject(new Error('Not called'));

/** A live account at a Vandar of its own, whose clock stands, and workers that renew its tokens. */
const anAccount = async () => {
  const vandar = await forFile(startVandar());
  const slug = `vandar-${new URL(vandar.url).port}`;
  const sealed = (refunds: object | null) =>
    sealCredentials(
      {
        slug,
        driver: 'vandar',
        credentials: { apiKey: 'live-key-0123456789', refunds, baseUrl: vandar.url },
      },
      { secretBox: () => box, notificationBox: () => box },
    );
  await sql`delete from gateways where driver = 'vandar'`;
  await gateways.insert({ slug, driver: 'vandar', kind: 'live', ...sealed(vandarRefunds) });
  let now = Date.now();
  const { logger, alerts, warnings } = readableLogger();
  /** As each worker process has one. */
  const aWorker = () => {
    const gatewayOf = createAdapters({
      sandboxPayments: {
        open: unused,
        verify: unused,
        get: unused,
        getDispute: unused,
        expire: unused,
      },
      sandboxRefunds: { tell: unused, list: unused, listBook: unused },
      ...{ publicBaseUrl: 'https://pay.example', orderNumber: unused },
      ...{ claimProof: unused, claimedProofs: unused },
      ...{ secretBox: box, dispatcherOf, allowLoopback: true, now: () => new Date(now) },
      callMs: 1_000,
    });
    const renewals = createRenewals(sql);
    const task = { renewals, gatewayOf, secretBox: box, now: () => new Date(now), logger };
    return createRenewalTask(task).renewRefundTokens;
  };
  const read = async () => {
    const account = await gateways.getAccount(slug);
    return account?.refundCredentials ?? null;
  };
  return {
    vandar,
    slug,
    aWorker,
    alerts,
    warnings,
    pass: (ms: number) => {
      now += ms;
    },
    /** The sealed text. */
    read,
    /** What a refund would use. */
    async stored(): Promise<Record<string, string> | null> {
      const text = await read();
      return text === null ? null : JSON.parse(newBox.open(text, refundCredentialsOwner(slug)));
    },
    /** An admin replaces the credentials, or takes those for refunds away. */
    set: (refunds: object | null) => gateways.setCredentials(slug, sealed(refunds)),
    /** The service's tokens are those that the gateway takes. */
    async works() {
      const text = await read();
      const { access, refresh } = vandar.tokens();
      const found = text && JSON.parse(newBox.open(text, refundCredentialsOwner(slug)));
      return found?.accessToken === access && found?.refreshToken === refresh;
    },
  };
};

/** A renewal that the gateway has carried out and not answered yet. */
const held = async (account: Awaited<ReturnType<typeof anAccount>>) => {
  const { vandar, aWorker } = account;
  const release = vandar.hold(/refreshtoken/);
  const before = vandar.renewals();
  const running = aWorker()();
  await until('the gateway has the call', async () => vandar.renewals() > before);
  return async () => {
    release();
    return running;
  };
};

describe('renewRefundTokens', () => {
  it('renews new tokens at once, and then three days before each end', async () => {
    const { vandar, aWorker, stored, works, pass, alerts } = await anAccount();
    const renew = aWorker();
    expect(await renew()).toBe(1);
    expect(await works()).toBe(true);
    expect(await stored()).toMatchObject({ business: 'my-shop' });
    expect(await renew()).toBe(0);
    pass(2 * dayMs - hourMs);
    expect(await renew()).toBe(0);
    pass(2 * hourMs);
    expect(await renew()).toBe(1);
    expect(vandar.renewals()).toBe(2);
    expect(await works()).toBe(true);
    expect(alerts()).toEqual([]);
  });

  it('renews once where two workers sweep at once', async () => {
    const account = await anAccount();
    const finish = await held(account);
    expect(await account.aWorker()()).toBe(0);
    expect(await finish()).toBe(1);
    expect(await account.aWorker()()).toBe(0);
    const calls = account.vandar.calls.filter(({ path }) => path.endsWith('refreshtoken'));
    expect(calls).toHaveLength(1);
    expect(await account.works()).toBe(true);
  });

  it('keeps what an admin has set while the gateway answered', async () => {
    const account = await anAccount();
    const finish = await held(account);
    const own = { business: 'my-shop', accessToken: 'of-a-login', refreshToken: 'of-the-login' };
    await account.set(own);
    expect(await finish()).toBe(0);
    expect(await account.stored()).toEqual(own);
    expect(account.warnings()).toHaveLength(1);
  });

  it('gives no tokens to an account from which an admin took them meanwhile', async () => {
    const account = await anAccount();
    const finish = await held(account);
    await account.set(null);
    expect(await finish()).toBe(0);
    expect(await account.read()).toBeNull();
  });

  it('loses nothing where another key seals the tokens meanwhile', async () => {
    const account = await anAccount();
    const finish = await held(account);
    const text = JSON.stringify(await account.stored());
    const resealed = newBox.seal(text, refundCredentialsOwner(account.slug));
    await gateways.reseal('refund_credentials', account.slug, resealed);
    expect(await finish()).toBe(1);
    expect(await account.works()).toBe(true);
  });

  it('keeps the tokens while the gateway is down, and alerts two days before their end', async () => {
    const account = await anAccount();
    const renew = account.aWorker();
    await renew();
    const before = await account.read();
    account.vandar.failAll(/refreshtoken/, 'cut');
    account.pass(2.5 * dayMs);
    expect([await renew(), await renew()]).toEqual([0, 0]);
    expect(account.alerts()).toEqual([]);
    // The second sweep is too soon for another try.
    expect(account.warnings()).toHaveLength(1);
    account.pass(dayMs);
    await renew();
    expect(account.alerts()).toEqual(['refund_token_ends']);
    account.pass(2 * dayMs);
    await renew();
    expect(account.alerts()).toHaveLength(2);
    expect(await account.read()).toBe(before);
    // The refresh token lives longer.
    account.vandar.failAll(/refreshtoken/, undefined);
    account.pass(10 * 60_000);
    expect(await renew()).toBe(1);
    expect(await account.works()).toBe(true);
  });

  it('alerts at once after a lost answer, since the token has served, until an admin logs in', async () => {
    const account = await anAccount();
    const renew = account.aWorker();
    await renew();
    account.pass(2.5 * dayMs);
    account.vandar.fail('lost', /refreshtoken/);
    await renew();
    expect(account.alerts()).toEqual([]);
    account.pass(10 * 60_000);
    const before = await account.read();
    expect(await renew()).toBe(0);
    expect(account.alerts()).toEqual(['refund_token_ends']);
    expect(await account.read()).toBe(before);
    account.vandar.logIn({ access: 'of-a-login', refresh: 'of-the-login' });
    const own = { business: 'my-shop', accessToken: 'of-a-login', refreshToken: 'of-the-login' };
    await account.set(own);
    account.pass(10 * 60_000);
    expect(await renew()).toBe(1);
    expect(await account.works()).toBe(true);
    expect(account.alerts()).toHaveLength(1);
  });

  it('touches no other account, and no account without tokens', async () => {
    const account = await anAccount();
    await account.set(null);
    const [zibal] = await sql`
      insert into gateways (slug, driver, kind, refund_credentials) values ('zibal', 'zibal', 'live', 'x')
      returning refund_credentials`;
    expect(await account.aWorker()()).toBe(0);
    expect(account.vandar.renewals()).toBe(0);
    expect(await sql`select refund_credentials from gateways where slug = 'zibal'`).toEqual([
      zibal,
    ]);
  });
});
