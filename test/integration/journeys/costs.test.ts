import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Journey } from '../../support/journey.ts';
import { createJourney } from '../../support/journey.ts';
import { startOwnPostgres } from '../../support/own-postgres.ts';
import type { Service } from '../../support/service.ts';
import { startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
let service: Service;
beforeAll(async () => {
  postgres = await startOwnPostgres({ log_statement: 'all', log_line_prefix: '%a: ' });
  service = await startService({ database: postgres });
});
afterAll(() => service?.stop());

/** What belongs to no payment: the library's own questions, the backlog's and the sweep's. */
const isOurs = (statement: string) =>
  !/pg_catalog|: select count\(\*\) from \( select from|gateways g where exists|skip locked|delete from idempotency_keys|from workflow_outbox u join|^worker: delete from workflow_outbox/.test(
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

const isOpened = async (id: string) => {
  const [row] = await service.sql`
    select from payments where id = ${id} and gateway_redirect is not null`;
  return row !== undefined;
};
const isKnownToRun = async (id: string) => {
  const [row] = await service.sql`select from workflow_outbox where payment_id = ${id}`;
  return row === undefined;
};

/** All that one payment has sent, by process, once nothing of it is left to be done. */
const statementsOf = async (journey: Journey, { comesEarly }: { comesEarly: boolean }) => {
  const from = postgres.lines.length;
  const id = await journey.create({ order_id: randomUUID() });
  if (!comesEarly) await until('it is opened', () => isOpened(id));
  expect((await journey.checkout(id)).status).toBe(302);
  await journey.choose(id, 'pay');
  await journey.comeBack(id);
  await service.client.workflow.getHandle(id).result();
  await until('the API has noted its start', () => isKnownToRun(id));
  const all = await statementsSince(from);
  const of = (process: string) => all.filter((each) => each.startsWith(`${process}: `));
  return {
    api: of('api'),
    worker: of('worker'),
    list: all.map((each) => each.slice(0, 110)).join('\n'),
  };
};

/** How often a payer who waits is looked for depends on the machine: all of it counts once. */
const withLooksAsOne = (statements: readonly string[]): string[] => {
  const isLook = (each: string) => each.includes('select id from payments where id = any(');
  return statements.filter(
    (each, index) => !isLook(each) || statements.findIndex(isLook) === index,
  );
};

it('a paid payment sends Postgres no more statements than it did', async () => {
  const journey = createJourney(service, (await service.anApplication()).token);
  // The first one waits for what is still being connected.
  await statementsOf(journey, { comesEarly: false });
  const { api, worker, list } = await statementsOf(journey, { comesEarly: false });
  expect(api.length, list).toBeLessThanOrEqual(7);
  expect(worker.length, list).toBeLessThanOrEqual(10);
});

it('a payer who comes before the payment is open costs three more, all looks as one', async () => {
  const journey = createJourney(service, (await service.anApplication()).token);
  const { api, worker, list } = await statementsOf(journey, { comesEarly: true });
  expect(withLooksAsOne(api).length, list).toBeLessThanOrEqual(10);
  expect(worker.length, list).toBeLessThanOrEqual(10);
});
