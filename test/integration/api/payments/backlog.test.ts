import { expect, it, onTestFinished, vi } from 'vitest';
import { createBacklog } from '../../../../api/payments/backlog.ts';
import { forFile } from '../../../support/for-file.ts';
import { startService } from '../../../support/service/service.ts';
import { until } from '../../../support/until.ts';
import { manyPayments, writePayments } from '../../../support/data/payments.ts';

const service = await forFile(startService());
const {
  application,
  journey: { create, get, request },
} = await service.anApplication();
const id = await create();
const post = (headers: Record<string, string> = {}) =>
  request('POST', '/api/v1/payments', { order_id: 'o', amount: 1, currency: 'EUR' }, headers);

it.each(['53100', '53200', '58030'])(
  'creates get 503 while Postgres cannot write, for lack of disk or memory: %s',
  async (code) => {
    await service.sql.unsafe(`
      create function cannot_write() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file' using errcode = '${code}'; end $$;
      create trigger cannot_write before insert on payments
        for each row execute function cannot_write()`);
    onTestFinished(async () => {
      await service.sql`drop function cannot_write cascade`;
    });
    const rejected = await post();
    expect(rejected.status, rejected.text).toBe(503);
    expect(rejected.headers.get('retry-after')).toBe('5');
    expect(rejected.json['error']).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  },
);

it('creates get 503 while more than 10,000 payments wait in the outbox', async () => {
  const keyed = () => post({ 'idempotency-key': 'before' });
  const first = await keyed();
  await service.worker.stop();
  await writePayments(
    service.sql,
    manyPayments(10_001, (n) => ({ id: `filled-${n}`, application })),
  );
  await service.sql`
    insert into workflow_outbox (payment_id, created_at)
    select id, now() from payments where id like 'filled-%'`;
  const rejected = await until('creates are rejected', async () => {
    const answer = await post();
    return answer.status === 503 && answer;
  });
  expect(rejected.json['error']).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  expect(rejected.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(await get(id)).toMatchObject({ status: 200 });
  // A replay adds nothing to the outbox.
  expect(await keyed()).toMatchObject({ status: 201, text: first.text });

  await service.sql`delete from workflow_outbox where payment_id like 'filled-%'`;
  await until('creates are accepted again', async () => (await post()).status === 201);
});

it('the outbox is counted every 5 s, and 10,000 entries are allowed', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  let entries = 10_000;
  const { check, stop } = createBacklog({
    outbox: { count: async (limit) => Math.min(entries, limit) },
    logger: { warn() {} },
  });
  onTestFinished(stop);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(check).not.toThrow();
  entries += 1;
  await vi.advanceTimersByTimeAsync(4_999);
  expect(check).not.toThrow();
  await vi.advanceTimersByTimeAsync(1);
  expect(check).toThrow('Too many payments are waiting to be started.');
});
