import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Filled } from '../support/filled.ts';
import { laterMigrations, slowMigration, startFilled } from '../support/filled.ts';

/** `npm run measure-migrations` takes ten times as many, which takes minutes to fill. */
const count = 100_000;

let filled: Filled;
beforeAll(async () => {
  filled = await startFilled(count);
}, 400_000);
afterAll(() => filled?.drop());

describe(`migrations of ${count} payments, while payments are made`, () => {
  it('those after the first release keep nobody waiting for 100 ms', async () => {
    // A machine that stands still for a moment has somebody wait once, a migration each time.
    for (let run = 1; run <= 3; run += 1) {
      if (run > 1) {
        await filled.drop();
        filled = await startFilled(count);
      }
      const { applied, lives, waits } = await filled.migrate();
      expect(applied).toEqual(laterMigrations);
      expect(lives).toBeGreaterThan(0);
      if (waits.length === 0) return;
      if (run === 3) expect(waits).toEqual([]);
    }
  }, 1_200_000);

  it('this test would have seen it', async () => {
    const { waits } = await filled.migrateBy(slowMigration);
    expect(waits).not.toEqual([]);
  });
});
