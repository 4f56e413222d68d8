import { type Member, pidOf } from '../tools/production/member.ts';
import { type ProductionOptions, startProduction } from '../tools/production/production.ts';
import { createApplication } from './application.ts';
import type { Actors } from './behaviours.ts';
import { createByLink } from './by-link.ts';
import { createClient } from './client.ts';
import type { Links } from './faults.ts';
import { startGateways } from './gateways.ts';
import { createJournal } from './journal.ts';
import { startLink } from './link.ts';
import { createNotifications } from './notifications.ts';
import { createPayers } from './payers.ts';
import type { Random } from './random.ts';
import { type ReceiverOptions, startReceiver } from './receiver.ts';
import { setUp } from './setup.ts';

export interface EnvironmentOptions
  extends
    Pick<ProductionOptions, 'folder' | 'programs' | 'cluster'>,
    Pick<ReceiverOptions, 'failing'> {
  random: Random;
  /** Stops everything in reverse order, at the end or after an interruption. */
  cleanup: AsyncDisposableStack;
}

/** Starts the production shape with gateways, payers, an application and its receiver around it. */
export const startEnvironment = async ({
  cleanup,
  random,
  failing,
  ...options
}: EnvironmentOptions) => {
  const journal = createJournal();
  const gateways = await startGateways();
  cleanup.defer(async () => void (await Promise.all(gateways.map((each) => each.stop()))));
  const receiver = await startReceiver({ failing, random: random.branch('receiver') });
  cleanup.defer(receiver.stop);
  const broken = Promise.withResolvers<never>();
  // It may break when nobody waits for it any more.
  broken.promise.catch(() => {});
  const links = {} as Links; // `through` fills it, as the production shape chooses the ports.
  const production = await startProduction({
    ...options,
    async through(name, url) {
      const link = await startLink(url);
      cleanup.defer(link.stop);
      links[name] = link;
      return new URL(link.url).port;
    },
    giveUp: (reason) => broken.reject(new Error(`The shape does not recover by itself: ${reason}`)),
  });
  cleanup.defer(production.stop);
  receiver.setSenders(() => findWorkers(production.members));
  const token = await setUp(production, { gateways, receiver, ordersPaidOnce: true });
  const client = createClient(journal);
  const apiUrl = production.url;
  const notifications = createNotifications({
    client,
    apiUrl,
    random: random.branch('notifications'),
  });
  const actors: Actors = {
    application: createApplication({ client, journal, token, apiUrl }),
    beginByLink: createByLink({ client, journal, token, apiUrl }),
    payers: createPayers({ client, journal, apiUrl, notifications }),
  };
  return {
    production,
    links,
    gateways,
    receiver,
    journal,
    actors,
    notifications,
    client,
    token,
    /** Rejects when a process cannot be started any more: nothing that follows could end well. */
    broken: broken.promise,
  };
};

const findWorkers = (members: readonly Member[]): number[] =>
  members.filter(({ part }) => part === 'worker').flatMap((member) => pidOf(member) ?? []);
