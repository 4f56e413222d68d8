import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { OpeningFault } from '../../../chaos/gateways.ts';
import { createLoad, type LoadOptions } from '../../../chaos/load.ts';
import { createRandom } from '../../../chaos/random.ts';
import type { CreatedPayment } from '../../../chaos/scenarios.ts';
import { aVisit } from '../../support/chaos/support.ts';
import { until } from '../../support/until.ts';

const payments = 20;
const times = <T>(count: number, what: T): T[] => Array.from({ length: count }, () => what);

/** A load of which each payment is created at once. The turns are further apart than a busy machine stands still. */
const aLoad = async (options: Partial<LoadOptions> = {}) => {
  const { gateways, payment } = await aVisit();
  const [first, second] = ['unsteady', 'zibal'].map(
    (name) => gateways.find(({ slug }) => slug === name)!, // Started with all.
  );
  const faults: (OpeningFault | undefined)[] = [];
  first!.failOpenings = (fault) => faults.push(fault);
  const created: CreatedPayment[] = [];
  /** The fault at each create. */
  const met: (OpeningFault | undefined)[] = [];
  const load = createLoad({
    ...{ payments, loadMs: 2_000, gateways, random: createRandom('7'), created: () => created },
    ...options,
  });
  const candidates = [first!, second!];
  const turns = Array.from({ length: payments }, async (_, index) => {
    await load.turnOf(index);
    met.push(faults.at(-1));
    created.push({ ...payment, candidates, gateway: first!, createdAt: Date.now() });
  });
  return { load, turns, created, faults, met, second: second! };
};

it('waits after each outage until another gateway has opened one of its payments', async () => {
  const { load, turns, created, met, second } = await aLoad();
  const outages = load.run();
  await until('it waits', load.isWaiting);
  expect(created).toHaveLength(7);
  const [before] = created;
  Object.assign(before!, { gateway: second, createdAt: 0 });
  await sleep(300);
  expect([created.length, load.isWaiting()]).toEqual([7, true]);
  created.at(-1)!.gateway = second;
  await until('it goes on', () => !load.isWaiting());
  await until('it waits again', load.isWaiting);
  expect(created).toHaveLength(18);
  created.at(-1)!.gateway = second;
  await Promise.all(turns);
  const faults = (await outages).map(({ fault }) => fault);
  expect(faults.toSorted()).toEqual(['hang', 'refuse']);
  const [first, last] = faults;
  expect(met).toEqual([
    ...[undefined, ...times(6, first)],
    ...[...times(5, undefined), ...times(6, last), ...times(2, undefined)],
  ]);
});

it('goes on after a while if no other gateway opens any', async () => {
  const { load, turns, faults } = await aLoad({ maxWaitMs: 200 });
  const outages = await load.run();
  await Promise.all(turns);
  expect(outages.map(({ from, to }) => to - from >= 200)).toEqual([true, true]);
  expect(faults.at(-1)).toBeUndefined();
  expect(load.isWaiting()).toBe(false);
});
