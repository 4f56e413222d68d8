import { cancel } from '../../../protocol/cancel.ts';
import { delivery } from '../../../protocol/delivery.ts';
import { end } from '../../../protocol/end.ts';
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
  when: (state: AnyState) => boolean;
  /** Changes that mean something else in the whole. */
  translate?: (changes: AnyState) => AnyState;
  /** What the part reads where the whole has another word for it. */
  read?: (state: AnyState) => AnyState;
}

const isUnpaid = ({ status }: AnyState) => status === 'cancelled' || status === 'expired';
const payment = [
  'status',
  'events',
  'checkout',
  'doubt',
  'retry',
  'late',
  'gateway',
  'closed',
  'money',
  'payer',
];

/** All parts at once, with one try where a second would meet nobody else. Too many states for the explorer. */
export const createWhole = (): { whole: Part<AnyState>; domains: Domains } => {
  const joined: Actor<AnyState>[] = [];
  const invariants: Record<string, (state: AnyState) => boolean> = {};
  const variables: Record<string, AnyState[string]> = {};
  const domains = new Map<string, Value[]>();

  const join = <S extends object>(
    part: Part<S>,
    { prefix, common = [], actors, when, translate, read }: Joining,
  ): void => {
    const nameOf = (name: string) => (common.includes(name) ? name : `${prefix}_${name}`);
    const seen = (state: AnyState): S =>
      new Proxy({} as AnyState, {
        get: (_, name) => read?.(state)[String(name)] ?? state[nameOf(String(name))],
      }) as S;
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
        if (!when(state)) return;
        for (const [step, changes] of actor(seen(state))) {
          const renamed = Object.entries(changes as AnyState).map(([key, value]) => [
            nameOf(key),
            value,
          ]);
          const all = Object.fromEntries(renamed) as AnyState;
          yield [`${prefix}: ${step}`, translate ? translate(all) : all];
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
      status === 'pending' && payer === 'away' && opening_reference !== 'second',
    translate: ({ opening_status, ...changes }) =>
      opening_status === 'ended_unasked' ? { ...changes, status: 'expired', events: 1 } : changes,
  });
  join(end(), {
    prefix: 'end',
    common: payment,
    actors: ['a', 'b', 'temporal', 'payer', 'gateway', 'application'],
    when: ({ opening_reference, cancel_a_at }) =>
      opening_reference !== 'none' && cancel_a_at === 'idle',
  });
  join(cancel(), {
    prefix: 'cancel',
    common: payment,
    actors: ['a', 'application'],
    when: ({ opening_reference, end_a_at }) => opening_reference !== 'none' && end_a_at === 'idle',
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
    starts: (['closes', 'two_step'] as const).map((gateway) => ({ ...variables, gateway })),
    actors: Object.fromEntries(joined.map((actor, at) => [String(at), actor])),
    invariants,
    goals: {},
  };
  return { whole, domains };
};
