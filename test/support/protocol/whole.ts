import { cancel } from '../../../protocol/cancel.ts';
import { delivery } from '../../../protocol/delivery.ts';
import { end, type EndFault } from '../../../protocol/end.ts';
import { lateMoney } from '../../../protocol/late-money.ts';
import { opening } from '../../../protocol/opening.ts';
import { explore } from '../../../protocol/explorer.ts';
import type { Actor, Part, Step, Value } from '../../../protocol/part.ts';
import type { AnyState } from '../../../protocol/parts.ts';
import { type Domains, domainsOf } from './promela.ts';
import { refund } from '../../../protocol/refund.ts';

interface Joining {
  /** The prefix of the part's own variables. */
  prefix: string;
  /** Variables that the part has in common with the others. */
  common?: readonly string[];
  /** The actors that take part. The others stand for parts that are present here. */
  actors: readonly string[];
  /** When they act. */
  when: (state: AnyState, actor?: string) => boolean;
  /** Changes that mean something else in the whole. */
  translate?: (changes: AnyState) => AnyState;
  /** Translates the state of the whole into the words of the part. */
  read?: (state: AnyState) => AnyState;
}

/** Crashes, lost answers and tries that Temporal gives up, in all. */
const mostFaults = 1;
const isFault = (step: string) => /^(crash|lost|Temporal)/.test(step);

/** The rest of an opening would multiply the states of all that follows. */
const isOpened = (state: AnyState) =>
  state['opening_reference'] !== 'none' &&
  state['opening_a_at'] === 'idle' &&
  state['opening_starter'] === 'idle' &&
  !state['opening_outbox'];
const isUnpaid = ({ status }: AnyState) => status === 'cancelled' || status === 'expired';
const payment = [
  'status',
  'events',
  'checkout',
  'doubt',
  'retry',
  'late',
  'notice',
  'gateway',
  'closed',
  'money',
  'payer',
];

/**
 * All parts at once, with one try where a second would meet nobody else. Too many states for the explorer.
 * @param fault a planted one
 */
export const createWhole = (fault?: EndFault): { whole: Part<AnyState>; domains: Domains } => {
  const joined: Actor<AnyState>[] = [];
  const invariants: Record<string, (state: AnyState) => boolean> = {};
  const variables: Record<string, AnyState[string]> = { faults: 0 };
  const domains = new Map<string, Value[]>([['faults', [0, mostFaults]]]);

  const join = <S extends object>(
    part: Part<S>,
    { prefix, common = [], actors, when, translate, read }: Joining,
  ): void => {
    const nameOf = (name: string) => (common.includes(name) ? name : `${prefix}_${name}`);
    const seen = (state: AnyState): S =>
      new Proxy(
        {},
        {
          get: (_, name) => read?.(state)[String(name)] ?? state[nameOf(String(name))],
        },
      ) as S;
    for (const [name, value] of Object.entries(part.starts[0] as AnyState))
      variables[nameOf(name)] ??= value;
    for (const [name, values] of domainsOf(explore(part).states as unknown as AnyState[])) {
      const known = domains.get(nameOf(name)) ?? [];
      domains.set(nameOf(name), [...new Set([...known, ...values])]);
    }
    for (const name of actors) {
      const actor = part.actors[name];
      if (!actor) throw new Error(`${part.name} has no actor ${name}`);
      joined.push(function* (state): Iterable<Step<AnyState>> {
        if (!when(state, name)) return;
        for (const [step, changes] of actor(seen(state))) {
          const faults = Number(state['faults']) + Number(isFault(step));
          if (faults > mostFaults) continue;
          const renamed = Object.entries(changes as AnyState).map(([key, value]) => [
            nameOf(key),
            value,
          ]);
          const all = Object.fromEntries(renamed) as AnyState;
          const seenByAll = translate ? translate(all) : all;
          yield [`${prefix}: ${step}`, isFault(step) ? { ...seenByAll, faults } : seenByAll];
        }
      });
    }
    for (const [words, holds] of Object.entries(part.invariants))
      invariants[`${part.name}: ${words}`] = (state) => !when(state) || holds(seen(state));
  };

  join(opening(), {
    prefix: 'opening',
    actors: ['request_a', 'starting', 'a'],
    // Until the payer can be sent to the gateway.
    when: ({ status, payer, opening_reference }) =>
      status === 'pending' && payer === 'away' && opening_reference !== 'A2',
    translate: ({ opening_status, ...changes }) =>
      opening_status === 'ended_unasked' ? { ...changes, status: 'expired', events: 1 } : changes,
  });
  join(end(fault === undefined ? {} : { fault }), {
    prefix: 'end',
    common: payment,
    actors: ['a', 'b', 'temporal', 'workflow', 'payer', 'gateway', 'api', 'application'],
    // A workflow waits for one activity at a time.
    when: (s, actor) => isOpened(s) && (actor !== 'a' || s['cancel_a_at'] === 'idle'),
  });
  join(cancel(), {
    prefix: 'cancel',
    common: payment,
    actors: ['a', 'application'],
    when: (s, actor) => isOpened(s) && (actor !== 'a' || s['end_a_at'] === 'idle'),
  });
  join(lateMoney(), {
    prefix: 'late',
    common: ['doubt', 'money'],
    actors: ['a', 'temporal', 'watchers'],
    when: isUnpaid,
    read: ({ gateway }) => ({ gateway: gateway === 'closes' ? 'reports' : 'two_step' }),
  });
  join(delivery(), {
    prefix: 'delivery',
    actors: ['a', 'others'],
    when: ({ events }) => events === 1,
  });
  join(refund({ shape: 'two tries' }), {
    prefix: 'refund',
    actors: ['create_one', 'try_one', 'gateway_one'],
    when: ({ status }) => status === 'paid',
  });

  const whole = {
    name: 'all parts at once',
    starts: (['closes', 'two_step'] as const).map((gateway) => ({
      ...variables,
      gateway,
      refund_keyed: gateway === 'closes',
    })),
    actors: Object.fromEntries(joined.map((actor, at) => [String(at), actor])),
    invariants,
    goals: {},
  };
  return { whole, domains };
};
