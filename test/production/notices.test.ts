import { expect, it } from 'vitest';
import { createApplications } from '../../postgres/applications/applications.ts';
import { connect } from '../../postgres/driver/connection.ts';
import { createGateways, sandboxAccount } from '../../postgres/gateways/gateways.ts';
import { createNoticeAddresses } from '../../postgres/notices/addresses.ts';
import { startProduction } from '../../tools/production/production.ts';
import { type Stage, startStagedMailServer } from '../support/servers/staged-mail-server.ts';
import { useProductionRun } from '../support/stack/production-run.ts';
import { until } from '../support/until.ts';

const aRun = useProductionRun();

/** The activity of a killed worker has 30 s, which this test waits out twice: Temporal starts the next round only then. */
const roundMs = 240_000;

it(
  'a worker that is killed at any step of a mail sends it at most once',
  { timeout: 900_000 },
  async () => {
    const { cleanup, ...run } = aRun();

    const held = new Map<Stage, string>();
    let stages: Stage[] = [];
    let goOn = Promise.withResolvers<void>();
    const server = await startStagedMailServer((stage, to) => {
      // One mail a stage, and the other mail of the round passes.
      if (!stages.includes(stage) || [...held.values()].includes(to)) return undefined;
      stages = stages.filter((each) => each !== stage);
      held.set(stage, to);
      return goOn.promise;
    });
    cleanup.defer(server.stop);
    const production = await startProduction({
      ...{ ...run, processes: 1, giveUp: () => {} },
      settings: {
        workerEnv: {
          SMTP_HOST: '127.0.0.1',
          SMTP_PORT: String(server.port),
          SMTP_FROM: 'payments@pay.example',
        },
      },
    });
    cleanup.defer(production.stop);
    const sql = connect(production.databaseUrl, { name: 'tests', max: 1 });
    cleanup.defer(() => sql.end({ timeout: 1 }));
    await createGateways(sql).insert(sandboxAccount);
    await createApplications(sql).insert({
      ...{ slug: 'shop', defaultGateway: 'sandbox', callbackUrls: ['http://127.0.0.1:9/return'] },
      ...{ webhookUrl: 'http://127.0.0.1:9/webhook', requestsPerMinute: 60 },
    });
    const worker = production.members.find(({ part }) => part === 'worker')!;

    const killAt = async (...at: Stage[]) => {
      stages = at;
      // At once, so that one round has both.
      await sql.begin(async (transaction) => {
        for (const stage of at)
          await createNoticeAddresses(transaction).insert('shop', `${stage}@shop.example`);
      });
      await until(
        `mails are at ${at.join(', ')}`,
        () => at.every((stage) => held.has(stage)),
        roundMs,
      );
      const { length } = worker.lives;
      expect(worker.kill()).toBe(true);
      goOn.resolve();
      goOn = Promise.withResolvers();
      await until('the worker is up again', () => worker.lives.length > length && worker.isUp());
    };
    await killAt('named', 'taken');
    await killAt('asked', 'greeted');
    // As if the killed workers had begun their mails longer ago than a mail may last.
    await sql`update notices set claimed_at = claimed_at - interval '1 minute' where result is null`;
    const results = await until(
      'every notice has its end',
      async () => {
        const rows = await sql<{ address: string; result: string | null }[]>`
        select address, result from notices`;
        return rows.every(({ result }) => result !== null) && rows;
      },
      roundMs,
    );

    const count = (address: string) => server.mails.filter((to) => to === address).length;
    const ends = new Map(
      results.map(({ address, result }) => [address, `${result}, ${count(address)} mails`]),
    );
    expect([...ends.values()].toSorted()).toEqual([
      'sent, 1 mails',
      'unknown, 0 mails',
      'unknown, 0 mails',
      'unknown, 1 mails',
    ]);
    expect(ends.get(held.get('named')!)).toBe('unknown, 0 mails');
    expect(ends.get(held.get('taken')!)).toBe('unknown, 1 mails');
    expect(ends.get(held.get('asked')!)).toBe('unknown, 0 mails');
  },
);
