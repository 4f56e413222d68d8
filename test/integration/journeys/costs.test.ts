import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Journey } from '../../support/service/journey.ts';
import { startOwnPostgres } from '../../support/servers/own-postgres.ts';
import { startService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';
import { forFile } from '../../support/for-file.ts';

const postgres = await startOwnPostgres({ log_statement: 'all', log_line_prefix: '%a: ' });
const service = await forFile(startService({ database: postgres }));

/** Leaves out the statements of the driver, of the backlog metrics and of the sweeper. */
const isOfPayment = (statement: string) =>
  !/pg_catalog|select clock_timestamp|: select count\(\*\) from \( select from|gateways g where exists|limit \$\d+ for update skip locked|delete from idempotency_keys|from workflow_outbox u join|^worker: delete from workflow_outbox/.test(
    statement,
  );

/** The statements that both processes have sent since this line of the log. */
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
    .filter(isOfPayment);
};

const isOpened = async (id: string) => {
  const [row] = await service.sql`
    select from payments where id = ${id} and gateway_redirect is not null`;
  return row !== undefined;
};
const hasLeftOutbox = async (id: string) => {
  const [row] = await service.sql`select from workflow_outbox where payment_id = ${id}`;
  return row === undefined;
};

/** All statements of one payment from its create to its delivery, by process. */
const statementsOf = async (journey: Journey, { isEarly }: { isEarly: boolean }) => {
  const from = postgres.lines.length;
  const id = await journey.create({ order_id: randomUUID() });
  if (!isEarly) await until('it is opened', () => isOpened(id));
  expect((await journey.checkout(id)).status).toBe(302);
  await journey.choose(id, 'pay');
  await journey.comeBack(id);
  await service.client.workflow.getHandle(id).result();
  await until('the API has deleted its outbox row', () => hasLeftOutbox(id));
  const all = await statementsSince(from);
  const of = (process: string) => all.filter((each) => each.startsWith(`${process}: `));
  return {
    api: of('api'),
    worker: of('worker'),
    list: all.map((each) => each.slice(0, 110)).join('\n'),
  };
};

/** A waiting checkout polls as often as the machine allows, so its polls count as one statement. */
const withPollsAsOne = (statements: readonly string[]): string[] => {
  const isPoll = (each: string) => each.includes('with sent as ( update payments set checkout_at');
  return statements.filter(
    (each, index) => !isPoll(each) || statements.findIndex(isPoll) === index,
  );
};

it('a paid payment costs at most 6 statements of the API and 9 of the worker', async () => {
  const journey = (await service.anApplication()).journey;
  // The first payment also opens connections.
  await statementsOf(journey, { isEarly: false });
  const { api, worker, list } = await statementsOf(journey, { isEarly: false });
  expect(api.length, list).toBeLessThanOrEqual(6);
  expect(worker.length, list).toBeLessThanOrEqual(9);
});

it('a payer who comes before the opening costs at most one statement more, with all polls as one', async () => {
  const journey = (await service.anApplication()).journey;
  const { api, worker, list } = await statementsOf(journey, { isEarly: true });
  expect(withPollsAsOne(api).length, list).toBeLessThanOrEqual(7);
  expect(worker.length, list).toBeLessThanOrEqual(9);
});
