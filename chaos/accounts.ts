import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { Sql } from '../postgres/driver/sql.ts';
import {
  type AccountDayInput,
  compareAccountDayWorkflow,
  type Workflows,
} from '../temporal/messages.ts';
import { accountDayStartOptions } from '../temporal/start-options.ts';
import type { Member } from '../tools/production/member.ts';
import type { Production } from '../tools/production/production.ts';
import type { Violation } from './evidence.ts';

const killEveryMs = 1_500;

/**
 * Compares the days of the run with the books of the gateways while workers are killed, one after the other. Every difference is a violation:
 * a run leaves none.
 */
export const compareAccounts = async (
  sql: Sql,
  { temporal, members }: Pick<Production, 'temporal' | 'members'>,
  { kills }: { kills: number },
): Promise<Violation[]> => {
  const days = await sql<AccountDayInput[]>`
    select distinct gateway, day::text from movements order by gateway, day`;
  await Promise.all([compareDays(temporal, days), killWorkers(members, kills)]);
  const found = await sql<{ payment: string | null; text: string }[]>`
    select payment_id as payment, concat_ws(' ', gateway, day, kind, subject, our_amount, their_amount) as text
    from account_differences where state = 'open' order by id`;
  return found.map(({ payment, text }) => ({ order: payment ?? '', text: `differs: ${text}` }));
};

/** Resolves once all days are compared. */
export const compareDays = async (
  { address, namespace }: Production['temporal'],
  days: readonly AccountDayInput[],
): Promise<void> => {
  const connection = await Connection.connect({ address });
  try {
    const { workflow } = new Client({ connection, namespace });
    await Promise.all(
      days.map((day) =>
        workflow.execute<Workflows['compareAccountDay']>(
          compareAccountDayWorkflow,
          accountDayStartOptions(day),
        ),
      ),
    );
  } finally {
    await connection.close();
  }
};

const killWorkers = async (members: readonly Member[], kills: number): Promise<void> => {
  const workers = members.filter(({ part }) => part === 'worker');
  for (let n = 0; n < kills; n += 1) {
    await sleep(killEveryMs);
    workers[n % workers.length]?.kill();
  }
};
