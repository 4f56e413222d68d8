import { describe, expect, it } from 'vitest';
import type { Payer } from '../../../contract/payer.ts';
import type { Payment } from '../../../contract/payment.ts';
import type { GatewayAdapter, OpenResult } from '../../../gateways/gateway.ts';
import { GatewayUnavailable } from '../../../gateways/errors.ts';
import { openPayer, sealPayer } from '../../../postgres/payments/payers.ts';
import { createSandboxPayments } from '../../../postgres/sandbox/payments.ts';
import { createSecretBox, noKeys } from '../../../postgres/secrets/secret-box.ts';
import { forFile } from '../../support/for-file.ts';
import { aPayment } from '../../support/data/payments.ts';
import { noAnswer, startRecords, withOutcome } from '../../support/data/records.ts';
import {
  payersKeyRing,
  readableLogger,
  withGateway,
} from '../../support/service/scripted-gateway.ts';
import { sweeperTasksOn } from '../../support/service/scripted-sweep.ts';

const records = await forFile(startRecords({ gatewayKind: 'live' }));
const box = createSecretBox(payersKeyRing, 'PAYERS_KEY');

const payer: Payer = { mobile: '09121234567', email: 'ada@shop.example', name: 'Ada Lovelace' };
const secrets = /912|ada|lovelace/i;
/** Lines of the log as text, without the process, the time and the id, which hold any digits. */
const textOf = (lines: readonly object[]) =>
  JSON.stringify(lines.map((line) => ({ ...line, pid: 0, time: 0, payment_id: '' })));

const created = async (of: Payer = payer) => {
  const payment = aPayment();
  await records.payments.insert(payment, null, {
    payer: sealPayer(box, payment.id, of),
    payerLocale: of.locale ?? null,
  });
  return payment;
};
const isKept = async (id: string) => {
  const rows = await records.sql`select sealed from payers where payment_id = ${id}`;
  return rows.length > 0;
};
const opened: OpenResult = {
  result: 'opened',
  reference: 'A-1',
  redirect: { method: 'GET', url: 'https://gateway.example/' },
};
let references = 0;
const opens = async (): Promise<OpenResult> => ({ ...opened, reference: `R-${(references += 1)}` });
const openWith = (open: GatewayAdapter['open'], deps: Parameters<typeof withGateway>[2] = {}) =>
  withGateway(records, { open }, deps);

describe('the data of a payer', () => {
  it('are sealed in a row that only the opening reads, and that its record deletes', async () => {
    const { id } = await created({ ...payer, locale: 'de-AT' });
    const [row] = await records.sql<
      { sealed: string }[]
    >`select sealed from payers where payment_id = ${id}`;
    expect(row?.sealed).toMatch(/^v1\.test\./);
    expect(() => createSecretBox(payersKeyRing).open(row!.sealed, 'payer:PAY_1')).toThrow(/./);
    const { openPayment, asked } = openWith(opens);
    expect(await openPayment({ id, afterDeadline: false })).toEqual({ stage: 'open' });
    expect(asked.map(({ payment }) => payment)).toMatchObject([
      { id, payer: { ...payer, locale: 'de-AT' } },
    ]);
    expect(await isKept(id)).toBe(false);
    const [payment] =
      await records.sql`select to_jsonb(p) as all, payer_locale from payments p where id = ${id}`;
    expect(payment?.['payer_locale']).toBe('de-AT');
    expect(JSON.stringify(payment)).not.toMatch(/ada@|lovelace|912123/i);
  });

  it('make no row where there are none', async () => {
    for (const nothing of [{}, { locale: 'fa' }]) {
      const { id } = await created(nothing);
      expect(await isKept(id)).toBe(false);
      const { openPayment, asked } = openWith(opens);
      await openPayment({ id, afterDeadline: false });
      expect(asked.map(({ payment }) => payment.payer)).toEqual([
        'locale' in nothing ? nothing : undefined,
      ]);
    }
  });

  it('stay while the gateway gives no answer, or a worker dies before it records the opening', async () => {
    const { id } = await created();
    const silent = openWith(async () => {
      throw new GatewayUnavailable('no response in time');
    });
    await expect(silent.openPayment({ id, afterDeadline: false })).rejects.toThrow('no response');
    expect(await isKept(id)).toBe(true);
    const killed = openWith(opens, {
      paymentOutcomes: {
        ...records.paymentOutcomes,
        recordOpened: () => Promise.reject(new Error('killed')),
      },
    });
    await expect(killed.openPayment({ id, afterDeadline: false })).rejects.toThrow('killed');
    expect(await isKept(id)).toBe(true);
    const { openPayment, asked } = openWith(opens);
    await openPayment({ id, afterDeadline: false });
    expect(asked.map(({ payment }) => payment.payer)).toEqual([payer]);
    expect(await isKept(id)).toBe(false);
  });

  it.each(['failed', 'cancelled', 'expired', 'paid'] as const)(
    'end with the payment: %s',
    async (status) => {
      const payment = await created();
      const { ended, event } = withOutcome(payment, status);
      await records.paymentOutcomes.finalize(ended, event, noAnswer);
      expect(await isKept(payment.id)).toBe(false);
    },
  );

  it('that a gateway refuses cost no payment and alert nobody: it opens without them', async () => {
    const { id } = await created();
    const { logger, warnings, alerts } = readableLogger();
    const { openPayment, asked } = openWith(
      async ({ payer: sent }) =>
        sent
          ? { result: 'refused', code: '-9', message: 'odd', isAboutPayer: true }
          : { ...opened, reference: 'P-1' },
      { logger },
    );
    expect(await openPayment({ id, afterDeadline: false })).toEqual({ stage: 'open' });
    expect(asked.map(({ payment }) => payment.payer)).toEqual([payer, undefined]);
    expect(alerts()).toEqual([]);
    expect(warnings()).toMatchObject([{ payment_id: id, code: '-9' }]);
    expect(textOf(warnings())).not.toMatch(secrets);
    expect(await isKept(id)).toBe(false);
    const exchanges = await records.sql`
      select operation, result from gateway_exchanges where payment_id = ${id} order by id`;
    expect(exchanges).toEqual([
      { operation: 'open', result: 'refused' },
      { operation: 'open', result: 'opened' },
    ]);
  });

  it('are tried once: a gateway that also refuses the payment without them is at fault', async () => {
    const { id } = await created();
    const { openPayment, asked, alerts } = openWith(async () => ({
      ...({ result: 'refused', code: '-9', message: 'no such merchant' } as const),
      isAboutPayer: true,
    }));
    expect(await openPayment({ id, afterDeadline: false })).toMatchObject({ status: 'failed' });
    expect(asked).toHaveLength(2);
    expect(alerts()).toEqual(['merchant_configuration']);
    expect(await isKept(id)).toBe(false);
  });

  it('that no key opens are left out', async () => {
    const { id } = await created({ ...payer, locale: 'fa' });
    const { logger, warnings } = readableLogger();
    const { openPayment, asked } = openWith(opens, {
      logger,
      payersBox: createSecretBox(noKeys, 'PAYERS_KEY'),
    });
    expect(await openPayment({ id, afterDeadline: false })).toEqual({ stage: 'open' });
    expect(asked.map(({ payment }) => payment.payer)).toEqual([{ locale: 'fa' }]);
    expect(warnings()).toMatchObject([{ err: { message: 'PAYERS_KEY holds no key named test' } }]);
    expect(await isKept(id)).toBe(false);
  });

  it('are erased by the sweeper after 25 hours', async () => {
    const [old, young] = [await created(), await created()];
    await records.sql`
      update payers set created_at = now() - interval '25 hours 1 minute' where payment_id = ${old.id}`;
    expect(await sweeperTasksOn(records, {}).eraseOldPayers()).toBe(1);
    expect([await isKept(old.id), await isKept(young.id)]).toEqual([false, true]);
  });
});

describe('the data of a payer at the sandbox, which shows them on its page', () => {
  const atSandbox = createSandboxPayments(records.sql);
  const openedThere = async (changes: Partial<Payment> = {}) => {
    const payment = { ...aPayment(), test: true, ...changes };
    const sealed = sealPayer(box, payment.id, payer);
    await records.payments.insert(payment, null, { payer: sealed, payerLocale: null });
    const { openPayment } = openWith(async ({ id, amount, currency, returnUrl }) => ({
      ...opened,
      ...(await atSandbox.open({ paymentId: id, amount, currency, returnUrl })),
    }));
    await openPayment({ id: payment.id, afterDeadline: false });
    return payment;
  };
  const shown = async ({ id }: Payment) => {
    const found = await atSandbox.getByPayment(id);
    return found?.payer && openPayer(box, id, found.payer);
  };

  it('stay sealed there until the end of a test payment', async () => {
    const payment = await openedThere();
    expect(await isKept(payment.id)).toBe(false);
    expect(await shown(payment)).toEqual(payer);
    const again = { paymentId: payment.id, amount: 1, currency: 'EUR', returnUrl: '' };
    await atSandbox.open(again);
    expect(await shown(payment)).toEqual(payer);
    const { ended, event } = withOutcome(payment, 'failed');
    await records.paymentOutcomes.finalize(ended, event, noAnswer);
    expect(await shown(payment)).toBe(null);
  });

  it('never come there with a payment that is no test', async () => {
    expect(await shown(await openedThere({ test: false }))).toBe(null);
  });

  it('are erased there by the sweeper after 25 hours, too', async () => {
    const [old, young] = [await openedThere(), await openedThere()];
    await records.sql`
        update sandbox_payments set created_at = now() - interval '25 hours 1 minute' where payment_id = ${old.id}`;
    await sweeperTasksOn(records, {}).eraseOldPayers();
    expect([await shown(old), await shown(young)]).toEqual([null, payer]);
  });
});
