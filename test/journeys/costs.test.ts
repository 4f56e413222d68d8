import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createJourney } from '../support/journey.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';
import type { Service } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { until } from '../support/until.ts';

let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
let service: Service;
beforeAll(async () => {
  postgres = await startOwnPostgres({ log_statement: 'all', log_line_prefix: '%a: ' });
  service = await startService({ database: postgres });
});
afterAll(() => service?.stop());

/** What belongs to no payment: the library's own questions, and the sweep's and the metrics'. */
const isOurs = (statement: string) =>
  !/pg_catalog|from unstarted order by|^select count|gateways g where exists|skip locked|idempotency_keys where|from unstarted u/.test(
    statement,
  );

/** The statements that both processes have sent since then. */
const statementsSince = async (line: number) => {
  const mark = `mark ${line}`;
  await postgres.sql.unsafe(`select '${mark}'`);
  await until('the log is written', () =>
    postgres.lines.slice(line).some((each) => each.includes(mark)),
  );
  const text = postgres.lines.slice(line).join('\n');
  const pattern = /^payments-(api|worker): LOG: {2}(?:execute [^:]*|statement): ([^]*?)(?=\n\S)/gm;
  return [...text.matchAll(pattern)]
    .map(([, process, statement = '']) => `${process}: ${statement.replaceAll(/\s+/g, ' ').trim()}`)
    .filter(isOurs);
};

it('a paid payment sends Postgres no more statements than it did', async () => {
  const { token } = await service.anApplication();
  const journey = createJourney(service, token);
  const pay = async () => {
    const id = await journey.atGateway({ order_id: randomUUID() });
    await journey.choose(id, 'pay');
    await journey.comeBack(id);
    await until('the webhook is recorded', async () => {
      const [row] = await service.sql`
        select from deliveries where payment_id = ${id} and status = 'delivered'`;
      return row !== undefined;
    });
    await service.client.workflow.getHandle(id).result();
  };
  // The first one waits for what is still being connected.
  await pay();
  const from = postgres.lines.length;
  await pay();
  const statements = await statementsSince(from);
  const of = (process: string) => statements.filter((each) => each.startsWith(`${process}: `));
  const list = statements.map((each) => each.slice(0, 110)).join('\n');
  expect(of('worker').length, list).toBeLessThanOrEqual(10);
  // A payer who comes to the checkout before the payment is open waits for it: how often is looked
  // depends on the machine, so each kind counts once.
  expect(new Set(of('api')).size, list).toBeLessThanOrEqual(8);
});
