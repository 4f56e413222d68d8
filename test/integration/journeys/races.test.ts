import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VerificationResult } from '../../../contract/status.ts';
import type { VerifyRequest } from '../../../temporal/messages.ts';
import { verifyUpdate } from '../../../temporal/messages.ts';
import { holdLock } from '../../support/hold-lock.ts';
import { createJourney } from '../../support/journey.ts';
import type { Service } from '../../support/service.ts';
import { startService } from '../../support/service.ts';
import { skipAllTime } from '../../support/skip-time.ts';
import { until } from '../../support/until.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

const updatesOf = async (id: string) => {
  const { events = [] } = await service.client.workflow.getHandle(id).fetchHistory();
  return events?.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length;
};

describe('return, verify and the deadline at the same moment', () => {
  it('FS-10: make one verification, one event and one answer for everybody, 50 times', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    /** As another API process asks, which shares no answer with ours. */
    const elsewhere = (id: string, request: VerifyRequest) =>
      service.client.workflow
        .getHandle(id)
        .executeUpdate<VerificationResult, [VerifyRequest]>(verifyUpdate, { args: [request] });
    const race = async (id: string) => {
      const others = [{ returned: true }, { returned: false }, { returned: true }];
      const told = Promise.all(others.map((request) => elsewhere(id, request)));
      const [back, ...verified] = await Promise.all([
        journey.comeBack(id),
        journey.verify(id),
        journey.verify(id),
        skipAllTime(service.client, id).then(() => journey.verify(id)),
      ]);
      expect(back.headers.get('location')).toMatch(/[?&]status=paid(&|$)/);
      for (const { status, json } of verified) {
        expect(status).toBe(200);
        expect(json['status']).toBe('paid');
      }
      expect(new Set(verified.map(({ text }) => text)).size).toBe(1);
      for (const standing of await told)
        expect(standing).toEqual({ kind: 'ended', status: 'paid' });
      await until('the webhook', () => service.receiver.of(id)[0]);
      await service.client.workflow.getHandle(id).result();
    };
    const paying = async () => {
      const id = await journey.atGateway();
      await journey.choose(id, 'pay_and_close');
      return id;
    };
    const ids: string[] = [];
    for (let batch = 0; batch < 5; batch += 1) {
      const open = await Promise.all(Array.from({ length: 10 }, paying));
      // The gateway answers nobody until those who ask about one payment are there together.
      const books = await holdLock(
        service.sql,
        (tx) => tx`select from sandbox_payments where payment_id = any(${open}) for update`,
      );
      const answer = async () => {
        try {
          for (const id of open)
            await until('all are there', async () => ((await updatesOf(id)) ?? 0) >= 4);
        } finally {
          await books.release();
        }
      };
      await Promise.all([answer(), ...open.map(race)]);
      ids.push(...open);
    }

    expect(ids).toHaveLength(50);
    const [asked] = await service.sql<{ most: number; least: number }[]>`
      select max(verifications) as most, min(verifications) as least from sandbox_payments
      where payment_id = any(${ids})`;
    expect(asked).toEqual({ most: 1, least: 1 });
    const events = await service.sql`select from events where payment_id = any(${ids})`;
    expect(events).toHaveLength(50);
    for (const id of ids) expect(service.receiver.of(id)).toHaveLength(1);
  });
});

describe('verify', () => {
  it('200 times by one impatient client stays within what the engine allows', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    const id = await journey.atGateway();
    const began = performance.now();
    const answers = await Promise.all(Array.from({ length: 200 }, () => journey.verify(id)));
    const seconds = (performance.now() - began) / 1000;
    for (const { status, json } of answers) {
      expect(status).toBe(200);
      expect(json['status']).toBe('pending');
    }
    const updates = await updatesOf(id);
    expect(updates).toBeGreaterThanOrEqual(1);
    expect(updates).toBeLessThanOrEqual(1 + Math.ceil(seconds / 3));
  });

  it('answers from the record while no payer was sent to the gateway, and after the end', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    const unsent = await journey.create();
    expect((await journey.verify(unsent)).json['status']).toBe('pending');
    const ended = await journey.finish('cancel');
    expect((await journey.verify(ended)).json['status']).toBe('cancelled');
    const [asked] = await service.sql<{ verifications: number }[]>`
      select verifications from sandbox_payments where payment_id = ${ended}`;
    expect(asked?.verifications).toBe(1);
  });
});

describe('a payer who comes back undecided', () => {
  it('is processing, and not sent to the gateway again', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    const id = await journey.atGateway();
    const back = await journey.comeBack(id);
    expect(back.status).toBe(303);
    expect(back.headers.get('location')).toContain('status=processing');
    expect((await journey.get(id)).json['status']).toBe('processing');
    const again = await journey.checkout(id);
    expect(again.status).toBe(303);
    expect(again.headers.get('location')).toContain('status=processing');
  });
});

describe('a payer who comes back again and again', () => {
  it('is one question to the gateway in 3 seconds, and found out once there is news', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    const id = await journey.atGateway();
    const began = performance.now();
    for (let turn = 0; turn < 30; turn += 1) await journey.comeBack(id);
    const seconds = (performance.now() - began) / 1000;
    expect(await updatesOf(id)).toBeLessThanOrEqual(1 + Math.ceil(seconds / 3));
    await journey.choose(id, 'pay');
    await until('it is paid', async () =>
      (await journey.comeBack(id)).headers.get('location')?.includes('status=paid'),
    );
  });
});

describe('a cancel request in the Temporal UI', () => {
  it('does not stop a payment', async () => {
    const { token } = await service.anApplication();
    const journey = createJourney(service, token);
    const id = await journey.atGateway();
    await service.client.workflow.getHandle(id).cancel();
    await journey.choose(id, 'pay');
    await journey.comeBack(id);
    await until('the webhook', () => service.receiver.of(id)[0]);
    expect((await journey.get(id)).json['status']).toBe('paid');
    await service.client.workflow.getHandle(id).result();
  });
});
