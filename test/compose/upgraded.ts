import { execFile } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { Shape } from '../../tools/compose/shape.ts';
import { removeFolder } from '../support/remove-folder.ts';
import { changedFiles, checkOutNextMinor } from '../support/stack/next-minor.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);
const layer = `build:
      context: next
      dockerfile_inline: |
        FROM payments:1.0.0
        COPY . ./`;

/**
 * Brings a made-up next minor version into an installation, as a checkout of it would. Its image is a layer on the one of this
 * version, with the files that differ: a build of its own would install all packages again.
 * @returns brings this version back
 */
const checkOutNext = async (folder: string): Promise<() => void> => {
  const next = await checkOutNextMinor();
  try {
    await run(process.execPath, ['worker/bundle.ts', 'workflows.js'], { cwd: next });
    for (const file of [...changedFiles(), 'workflows.js'])
      cpSync(join(next, file), join(folder, 'next', file));
  } finally {
    removeFolder(next);
  }
  const compose = join(folder, 'docker-compose.yml');
  const before = readFileSync(compose, 'utf8');
  const after = before.replace('image: payments:1.0.0', 'image: payments:1.1.0');
  writeFileSync(compose, after.replace('build: .', layer));
  return () => writeFileSync(compose, before);
};

interface Means {
  /** Of an application at the sandbox. */
  token: string;
  guide(heading: string): string[];
  /** @returns how the payment ended */
  pay(id: string): Promise<string | null>;
  /** Creates payments during an act. @returns how many requests it sent */
  expectNoFailure(act: () => Promise<unknown>, made: string[]): Promise<number>;
}

/** Upgrades with the guide's commands and goes back, while payers pay one after the other. */
export const expectToUpgrade = async (
  shape: Shape,
  { token, guide, pay, expectNoFailure }: Means,
): Promise<void> => {
  const imagesOf = (service: string) =>
    shape.sh(
      `docker inspect --format '{{.Config.Image}}' $(docker compose ps --quiet ${service}) | sort -u`,
    );
  const ask = async (path: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return JSON.parse((await shape.call(`/api/v1/${path}`, { headers })).body);
  };
  const known: { payment_id: string }[] = (await ask('payments?status=paid&per_page=5')).data;
  const expectKnown = async () => {
    for (const payment of known)
      expect(await ask(`payments/${payment.payment_id}`)).toEqual(payment);
  };
  expect(known.length).toBeGreaterThan(0);

  /** Payments whose payers come in this order. */
  const waiting: string[] = [];
  const paid: string[] = [];
  const payNext = async () => {
    const id = waiting.shift();
    if (id === undefined) return sleep(100);
    expect(await pay(id)).toBe('paid');
    paid.push(id);
  };
  const underLoad = async (act: () => Promise<unknown>) => {
    let isOver = false;
    const acting = () =>
      act().finally(() => {
        isOver = true;
      });
    const paying = async () => {
      while (!isOver) await payNext();
    };
    const [count] = await Promise.all([expectNoFailure(acting, waiting), paying()]);
    return count;
  };

  const goBack = await checkOutNext(shape.folder);
  expect(await underLoad(() => shape.sh(guide('Update').join('\n')))).toBeGreaterThan(50);
  for (const service of ['api', 'worker-payments', 'worker-webhooks'])
    expect(await imagesOf(service)).toBe('payments:1.1.0');
  await expectKnown();
  // Those that are made now take the new way, and their payers come while the older version does.
  const enough = waiting.length + 8;
  await expectNoFailure(() => until('payments are made', () => waiting.length >= enough), waiting);
  goBack();
  let said = '';
  await underLoad(async () => {
    said = await shape.sh(guide('Roll back').join('\n'));
  });
  expect(said).toMatch(/^\d+ begin again\.$/m);
  expect(await imagesOf('api')).toBe('payments:1.0.0');
  await expectKnown();

  for (let count = 0; count < 5; count += 1) await payNext();
  const ofPaid = () => shape.receiver.arrivals.filter(({ paymentId }) => paid.includes(paymentId));
  await until('each event has arrived', () => ofPaid().length >= paid.length);
  const events = ofPaid().map(({ paymentId, event }) => `${paymentId} ${event}`);
  expect(events.toSorted()).toEqual(paid.map((id) => `${id} payment.paid`).toSorted());
  const books = `docker compose exec -T postgres psql -At -d payments -c "select (select count(*) from payments where application = 'load' and status = 'paid') - (select count(*) from movements where application = 'load' and kind = 'payment')"`;
  expect(await shape.sh(books)).toBe('0');
};
