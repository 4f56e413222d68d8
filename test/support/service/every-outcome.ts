import type { Answer, Journey } from './journey.ts';
import type { Received } from './receiver.ts';
import type { Service } from './service.ts';
import { skipAllTime } from './skip-time.ts';
import { until } from '../until.ts';

/** The types of the tables in the service interface. */
export const kinds = {
  string: (value: unknown) => typeof value === 'string' && value !== '',
  'string or null': (value: unknown) => value === null || kinds.string(value),
  integer: Number.isSafeInteger,
  boolean: (value: unknown) => typeof value === 'boolean',
  object: (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value),
  timestamp: (value: unknown) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?[+-]\d\d:\d\d$/.test(String(value)),
  'timestamp or null': (value: unknown) => value === null || kinds.timestamp(value),
  uuid: (value: unknown) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(String(value)),
} as const;
export type Kind = keyof typeof kinds;

export const outcomes = ['paid', 'failed', 'cancelled', 'expired'] as const;
export type Outcome = (typeof outcomes)[number];

/** One payment for each outcome, with the order id `order-<outcome>`, and its webhook. */
export const endInEveryWay = async (
  { client, receiver }: Pick<Service, 'client' | 'receiver'>,
  journey: Journey,
  fields: Record<string, unknown> = {},
): Promise<Record<Outcome, { payment: Answer; webhook: Received }>> => {
  const end = async (outcome: Outcome) => {
    const id = await journey.atGateway({ order_id: `order-${outcome}`, ...fields });
    if (outcome === 'expired') await skipAllTime(client, id);
    else {
      await journey.choose(id, { paid: 'pay', failed: 'refuse', cancelled: 'cancel' }[outcome]);
      await journey.verify(id);
    }
    const webhook = await until(`the webhook of ${outcome}`, () => receiver.of(id)[0]);
    return { payment: await journey.get(id), webhook };
  };
  const ended = await Promise.all(outcomes.map(async (each) => [each, await end(each)] as const));
  return Object.fromEntries(ended) as Record<Outcome, Awaited<ReturnType<typeof end>>>;
};
