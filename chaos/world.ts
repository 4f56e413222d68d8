import type { Member } from '../tools/production/member.ts';
import type { ProductionOptions } from '../tools/production/stack.ts';
import { startProduction } from '../tools/production/stack.ts';
import { createApplication } from './application.ts';
import { createClient } from './client.ts';
import type { Wires } from './faults.ts';
import { startGateways } from './gateways.ts';
import { createJournal } from './journal.ts';
import { startLink } from './link.ts';
import { createNotices } from './notices.ts';
import { createPayers } from './payers.ts';
import type { Random } from './random.ts';
import type { ReceiverOptions } from './receiver.ts';
import { startReceiver } from './receiver.ts';
import { setUp } from './setup.ts';
import type { People } from './stories.ts';

export interface WorldOptions
  extends
    Pick<ProductionOptions, 'folder' | 'programs' | 'root'>,
    Pick<ReceiverOptions, 'failing'> {
  random: Random;
  /** What takes everything down again, in reverse order, also in the middle. */
  cleanup: AsyncDisposableStack;
}

/** The production shape with all who meet it: gateways, payers, an application and its receiver. */
export const startWorld = async ({ cleanup, random, failing, ...options }: WorldOptions) => {
  const journal = createJournal();
  const gateways = await startGateways();
  cleanup.defer(async () => void (await Promise.all(gateways.map((each) => each.stop()))));
  const receiver = await startReceiver({ failing, random: random.branch('receiver') });
  cleanup.defer(receiver.stop);
  const gaveUp: string[] = [];
  /** Started with the production shape, which chooses the ports. */
  const wires = {} as Wires;
  const production = await startProduction({
    ...options,
    async through(name, address) {
      const wire = await startLink(address);
      cleanup.defer(wire.stop);
      wires[name] = wire;
      return new URL(wire.url).port;
    },
    giveUp: (reason) => gaveUp.push(`it does not recover by itself: ${reason}`),
  });
  cleanup.defer(production.stop);
  receiver.expect(() => workersIn(production.members));
  const token = await setUp(production, { gateways, receiver });
  const client = createClient(journal);
  const apiUrl = production.url;
  const notices = createNotices({ client, apiUrl, random: random.branch('notices') });
  const people: People = {
    application: createApplication({ client, journal, token, apiUrl }),
    payers: createPayers({ client, journal, apiUrl, notices }),
  };
  return { production, wires, gateways, receiver, journal, people, notices, client, token, gaveUp };
};

const workersIn = (members: readonly Member[]): number[] =>
  members.flatMap(({ part, lives }) => {
    const { pid, endedAt } = lives.at(-1) ?? {};
    return part === 'worker' && pid !== undefined && endedAt === undefined ? [pid] : [];
  });
