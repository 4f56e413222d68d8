import { expect, it, onTestFinished, vi } from 'vitest';
import { createBacklog } from '../../../../api/payments/backlog.ts';
import { forFile } from '../../../support/for-file.ts';
import { useService } from '../../../support/service/service.ts';

const service = await forFile(useService());
const { application, journey } = await service.anApplication();

it.each(['53100', '53200', '58030'])(
  'creates get 503 while Postgres cannot write, for lack of disk or memory: %s',
  async (code) => {
    await service.sql.unsafe(`
      create function cannot_write() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file' using errcode = '${code}'; end $$;
      create trigger cannot_write before insert on payments
        for each row when (new.application = '${application}') execute function cannot_write()`);
    onTestFinished(async () => {
      await service.sql`drop function cannot_write cascade`;
    });
    const rejected = await journey.request('POST', '/api/v1/payments', {
      ...{ order_id: 'o', amount: 1, currency: 'EUR' },
    });
    expect(rejected.status, rejected.text).toBe(503);
    expect(rejected.headers.get('retry-after')).toBe('5');
    expect(rejected.json['error']).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  },
);

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
