import { slowMigration, startFilled } from '../support/filled.ts';

/*
 * Migrations of 1,000,000 payments while others are made: how long they take, and whether anybody
 * waits for a lock for 100 ms. Takes minutes and 3 GB, most of it to fill the tables.
 */

const count = 1_000_000;

console.log(`Filling ${count} payments …`);
const filled = await startFilled(count);
try {
  const { applied, tookMs, lives, waits } = await filled.migrate();
  console.log(
    `${applied.join(', ')}: ${tookMs} ms, in which ${lives} payments were made and ended`,
  );
  for (const line of waits) console.log(line);
  const slow = await filled.migrateBy(slowMigration);
  console.log(`One that must not pass: ${slow.tookMs} ms, ${slow.waits.length} waits are seen`);
  console.log(`${waits.length} waits of 100 ms or more`);
  process.exitCode = waits.length > 0 || slow.waits.length === 0 ? 1 : 0;
} finally {
  await filled.drop();
}
