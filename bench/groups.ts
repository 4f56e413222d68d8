import { measureEngine } from './engine.ts';
import { measureFairnessKeys } from './fairness-keys.ts';
import { measureFairness } from './fairness.ts';
import { measureGateways } from './gateways.ts';
import type { Group } from './group.ts';
import { measure } from './measure.ts';
import { measureObservation } from './observation.ts';
import { measureProduction } from './production.ts';
import { startReceiver } from './receiver.ts';
import { measureSender } from './sender.ts';
import { measureWaiting } from './waiting.ts';
import { measureWebhooks } from './webhooks.ts';

/** What `npm run bench` measures without further words: speed and memory of the whole service. */
const measureService: Group = async ({ payers, bare, pids, barePids, cleanup, say }) => {
  const receiver = await startReceiver();
  cleanup.defer(receiver.stop);
  const payments = await payers({ slug: 'bench', receiver });
  return measure({ payments, bare, pids, barePids, say });
};

/** The rows of the table that are measured together; the one with 10,000 payments is the last. */
export const groups = {
  service: measureService,
  engine: measureEngine,
  sender: measureSender,
  gateways: measureGateways,
  observation: measureObservation,
  production: measureProduction,
  webhooks: measureWebhooks,
  fairness: measureFairness,
  'fairness-keys': measureFairnessKeys,
  waiting: measureWaiting,
} satisfies Record<string, Group>;

export type GroupName = keyof typeof groups;
const names = Object.keys(groups) as GroupName[];

/** `full` means all; undefined for a word that names none. */
export const groupsNamed = (words: readonly string[]): readonly GroupName[] | undefined => {
  if (words.length === 0) return ['service'];
  if (words.includes('full')) return names;
  const wanted = names.filter((name) => words.includes(name));
  return wanted.length === words.length ? wanted : undefined;
};

export const usage = `npm run bench [-- full | ${names.join(' ')}]`;
