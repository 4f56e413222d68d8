import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { createBreaker } from '../../../activities/breaker.ts';
import { createBulkhead } from '../../../activities/bulkhead.ts';
import type { Payment } from '../../../contract/payment.ts';
import type { GatewayAdapter, OpenResult } from '../../../gateways/gateway.ts';
import { createGatewayExchanges } from '../../../postgres/gateways/exchanges.ts';
import { createGateways } from '../../../postgres/gateways/gateways.ts';
import { aPayment } from '../../support/data/payments.ts';
import { noAnswer, startRecords, withOutcome } from '../../support/data/records.ts';
import { forFile } from '../../support/for-file.ts';
import { aGateway, silence, withGateway } from '../../support/service/scripted-gateway.ts';

const records = await forFile(startRecords({ gatewayKind: 'live' }));
const { sql, payments, paymentOutcomes } = records;
const gateways = createGateways(sql);
let made = 0;

/** Gateways of their own, in the order of asking. */
const someGateways = async (count: number): Promise<string[]> => {
  const slugs = Array.from({ length: count }, () => `gateway-${(made += 1)}`);
  for (const slug of slugs) await records.addGateway('zarinpal', { slug });
  return slugs;
};

const aPaymentFor = async (candidates: string[], fields: Partial<Payment> = {}) => {
  const [gateway = ''] = candidates;
  const payment = aPayment({ gateway, ...fields });
  await payments.insert(payment, null, { candidates: candidates.length > 1 ? candidates : null });
  return payment.id;
};

const opens: GatewayAdapter['open'] = async ({ id }) => ({
  result: 'opened',
  reference: `REF_${id}`,
  redirect: { method: 'GET', url: 'https://gateway.example' },
});
const refuses = async (): Promise<OpenResult> => ({ result: 'refused', code: '-9', message: 'no' });
const takesLess = async (): Promise<OpenResult> => ({
  result: 'refused',
  code: '-1',
  message: 'too much',
  failureCode: 'amount_not_accepted',
});

type Scripts = Record<string, GatewayAdapter['open']>;

/** The activities of a worker whose gateways answer by these scripts, and whom it asked with which time. */
const aWorker = (scripts: Scripts, deps: Parameters<typeof withGateway>[2] = {}) => {
  const asked: string[] = [];
  const tries: (number | undefined)[] = [];
  const activities = withGateway(
    records,
    {},
    {
      ...deps,
      gatewayOf: (account, listener, tryMs) =>
        aGateway({
          async open(payment) {
            asked.push(account.gateway);
            tries.push(tryMs);
            return (scripts[account.gateway] ?? opens)(payment);
          },
        }).gatewayOf(account, listener, tryMs),
    },
  );
  return {
    ...activities,
    tries,
    open: (id: string) => activities.openPayment({ id, afterDeadline: false }),
    /** Whom it asked since the last question. */
    asked: () => asked.splice(0),
  };
};

const silentUntil = async (slug: string) => {
  const [row] = await sql<{ seconds: number | null; silences: number }[]>`
    select round(extract(epoch from silent_until - now()))::int as seconds, silences from gateways where slug = ${slug}`;
  return row;
};
/** The pause of the gateway is over. */
const endPause = (slug: string) =>
  sql`update gateways set silent_until = now() - interval '1 second' where slug = ${slug}`;

describe('the gateways that may open a payment', () => {
  it.each([
    ['does not answer', silence],
    ['refuses', refuses],
    ['does not take the amount', takesLess],
  ])('are asked in turn: the second opens it where the first %s', async (_, first) => {
    const [one = '', two = ''] = await someGateways(2);
    const id = await aPaymentFor([one, two]);
    const worker = aWorker({ [one]: first });
    expect(await worker.open(id)).toEqual({ stage: 'open' });
    expect(worker.asked()).toEqual([one, two]);
    expect(await paymentOutcomes.get(id)).toMatchObject({ gateway: two, reference: `REF_${id}` });
    const exchanges = await createGatewayExchanges(sql).list(id);
    expect(exchanges.map(({ gateway, operation }) => [gateway, operation])).toEqual([
      [one, 'open'],
      [two, 'open'],
    ]);
  });

  it('have three seconds each, and the last one ten; one alone has the usual time', async () => {
    const [one = '', two = '', three = ''] = await someGateways(3);
    const worker = aWorker({ [one]: silence, [two]: silence });
    await worker.open(await aPaymentFor([one, two, three]));
    await worker.open(await aPaymentFor([three]));
    expect(worker.tries).toEqual([3_000, 3_000, 10_000, undefined]);
  });

  it('end it if all of them refuse in one try, and alert about each account', async () => {
    const [one = '', two = ''] = await someGateways(2);
    const id = await aPaymentFor([one, two]);
    const { open, alerts } = aWorker({ [one]: takesLess, [two]: refuses });
    expect(await open(id)).toEqual({ stage: 'ended', status: 'failed' });
    expect(await records.snapshot(id)).toMatchObject({
      payment: { gateway: one, failure_code: 'merchant_configuration', gateway_code: '-9' },
    });
    expect(alerts()).toEqual(['merchant_configuration']);
  });

  it('go on to the next one at once where all slots of one are in use', async () => {
    const [one = '', two = ''] = await someGateways(2);
    const gatewayBulkhead = createBulkhead({ perOwner: 1 });
    gatewayBulkhead.acquire(one, 'PAY_other');
    const worker = aWorker({}, { gatewayBulkhead });
    const id = await aPaymentFor([one, two]);
    expect(await worker.open(id)).toEqual({ stage: 'open' });
    expect(worker.asked()).toEqual([two]);
    gatewayBulkhead.acquire(two, 'PAY_other');
    const waiting = worker.open(await aPaymentFor([one, two]));
    await expect(waiting).rejects.toMatchObject({ type: 'GatewayBusy' });
  });

  it('go on where the call to one has a fault of ours, which shows if no other one opens the payment', async () => {
    const [one = '', two = ''] = await someGateways(2);
    const broken = () => Promise.reject(new TypeError('a bug'));
    const { open } = aWorker({ [one]: broken });
    expect(await open(await aPaymentFor([one, two]))).toEqual({ stage: 'open' });
    for (const faults of [
      { [one]: broken, [two]: silence },
      { [one]: silence, [two]: broken },
    ]) {
      const failure: unknown = await aWorker(faults)
        .open(await aPaymentFor([one, two]))
        .catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(TypeError);
      expect(failure).not.toBeInstanceOf(ApplicationFailure);
    }
  });

  it('stay as they are once the payment is opened or has ended: Postgres refuses another', async () => {
    const [one = '', two = '', three = ''] = await someGateways(3);
    const move = (id: string, to: string) =>
      sql`update payments set gateway = ${to} where id = ${id}`.then(() => 'moved');
    const id = await aPaymentFor([one, two]);
    await expect(move(id, three)).rejects.toThrow('payments__candidates');
    await aWorker({}).open(id);
    await expect(move(id, two)).rejects.toThrow('the gateway of an opened payment stays');
    const unopened = aPayment({ gateway: one });
    await payments.insert(unopened, null, { candidates: [one, two] });
    const { ended, event } = withOutcome(unopened, 'expired');
    await paymentOutcomes.finalize(ended, event, noAnswer);
    await expect(move(unopened.id, two)).rejects.toThrow('the gateway of an opened payment stays');
  });
});

describe('a gateway that opens nothing', () => {
  it('is asked last after three failures in a row, and first again when it recovers', async () => {
    const [one = '', two = ''] = await someGateways(2);
    const scripts: Scripts = { [one]: silence };
    const worker = aWorker(scripts);
    const next = async () => {
      await worker.open(await aPaymentFor([one, two]));
      return worker.asked();
    };
    for (let times = 0; times < 3; times += 1) expect(await next()).toEqual([one, two]);
    expect(await silentUntil(one)).toEqual({ seconds: 30, silences: 1 });
    expect(await next()).toEqual([two]);
    const otherWorker = aWorker(scripts);
    await otherWorker.open(await aPaymentFor([one, two]));
    expect(otherWorker.asked()).toEqual([two]);
    await endPause(one);
    expect(await next()).toEqual([one, two]);
    expect(await silentUntil(one)).toEqual({ seconds: 60, silences: 2 });
    expect(await next()).toEqual([two]);
    await endPause(one);
    scripts[one] = opens;
    expect(await next()).toEqual([one]);
    expect(await silentUntil(one)).toEqual({ seconds: null, silences: 0 });
    expect(await next()).toEqual([one]);
  });

  it('is not left out: it opens the payment if the others do not', async () => {
    const [one = '', two = ''] = await someGateways(2);
    await gateways.beginSilence(one);
    const worker = aWorker({ [two]: silence });
    expect(await worker.open(await aPaymentFor([one, two]))).toEqual({ stage: 'open' });
    expect(worker.asked()).toEqual([two, one]);
    expect(await silentUntil(one)).toEqual({ seconds: null, silences: 0 });
  });

  it('is asked first by one opening alone when its pause is over', async () => {
    const [one = '', two = ''] = await someGateways(2);
    await gateways.beginSilence(one);
    await endPause(one);
    const workers = Array.from({ length: 5 }, () => aWorker({ [one]: silence }));
    await Promise.all(workers.map(async ({ open }) => open(await aPaymentFor([one, two]))));
    const firsts = workers.map(({ asked }) => asked()[0]);
    expect(firsts.filter((slug) => slug === one)).toHaveLength(1);
  });

  it('has pauses of at most five minutes', async () => {
    const [one = ''] = await someGateways(1);
    const seconds: unknown[] = [];
    for (let times = 0; times < 6; times += 1) {
      await gateways.beginSilence(one);
      seconds.push((await silentUntil(one))?.seconds);
      await endPause(one);
    }
    expect(seconds).toEqual([30, 60, 120, 240, 300, 300]);
  });

  it('counts openings of payments that have no other gateway too, which are not held up', async () => {
    const [one = ''] = await someGateways(1);
    const breaker = createBreaker(gateways);
    const { open, asked } = aWorker({ [one]: silence }, { breaker });
    const id = await aPaymentFor([one]);
    for (let times = 0; times < 3; times += 1) await expect(open(id)).rejects.toThrow('timeout');
    expect(await silentUntil(one)).toMatchObject({ silences: 1 });
    await expect(open(id)).rejects.toThrow('timeout');
    expect(asked()).toHaveLength(4);
    await aWorker({}, { breaker }).open(id);
    expect(await silentUntil(one)).toEqual({ seconds: null, silences: 0 });
  });

  it('has opened nothing only if the failures are in a row, and an amount that it does not take is none', async () => {
    const [one = '', two = ''] = await someGateways(2);
    const scripts: Scripts = {};
    const worker = aWorker(scripts);
    for (const answer of [silence, silence, opens, silence, silence, takesLess, silence, refuses]) {
      scripts[one] = answer;
      await worker.open(await aPaymentFor([one, two]));
    }
    expect(await silentUntil(one)).toEqual({ seconds: null, silences: 0 });
  });
});
