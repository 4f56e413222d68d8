import { type Actor, ofTry, type Part, type Try } from './part.ts';

/** The rounds and the attempts of each are bounded here: two of each show what six do. */
export const attemptsPerRound = 2;
const lastRound = 2;

export interface Delivery {
  /** Postgres: the delivery, and the ledger. `begun` is the number of an attempt without a result, or 0. */
  status: 'pending' | 'delivered' | 'exhausted';
  round: number;
  in_round: number;
  completed: number;
  begun: number;
  /** The time of the next attempt has come. */
  due: boolean;
  /** Temporal: the payment's workflow, a signal that it has not read, and the round of a run after a reset. */
  workflow: 'running' | 'ended';
  signal: boolean;
  reset: boolean;
  /** A begun round whose signal is not sent yet. */
  replay_a_at: 'idle' | 'saw_first_round' | 'committed';
  replay_b_at: 'idle' | 'saw_first_round' | 'committed';
  /** The tries of `deliverWebhook`: the number of the attempt that each holds, and what the receiver said. */
  a_at: 'idle' | 'read' | 'begun' | 'accepted' | 'failed';
  a_number: number;
  b_at: 'idle' | 'read' | 'begun' | 'accepted' | 'failed';
  b_number: number;
  /** The truth: what the receiver accepted, and how often an attempt number was completed again. */
  accepted: boolean;
  completed_again: boolean;
}

export type DeliveryFault =
  | 'round begun without its number'
  | 'a completed attempt completes again'
  | 'attempt not in the ledger before the POST'
  | 'nobody heals an overdue delivery';

/** `deliverWebhook`, one try. The ledger, not Temporal, says which attempt is the next. */
const tryOf = (x: Try, fault?: DeliveryFault): Actor<Delivery> =>
  function* (s) {
    const at = s[`${x}_at`];
    const number = s[`${x}_number`];
    const idle = ofTry<Delivery>(x, { at: 'idle', number: 0 });
    const next = s.begun || s.completed + 1;
    if (at === 'idle' && x === 'a' && s.workflow === 'running' && s.status === 'pending' && s.due)
      yield [`deliveries.get (${x})`, ofTry<Delivery>(x, { at: 'read', number: next })];
    if (at === 'read') {
      const isCompleted = number <= s.completed;
      if (fault === 'attempt not in the ledger before the POST')
        yield [`no row, then the POST (${x})`, ofTry<Delivery>(x, { at: 'begun', number })];
      else if (isCompleted) yield [`beginAttempt finds it completed (${x})`, idle];
      else
        yield [
          `beginAttempt (${x})`,
          { begun: number, ...ofTry<Delivery>(x, { at: 'begun', number }) },
        ];
    }
    if (at === 'begun') {
      yield [
        `POST: accepted (${x})`,
        { accepted: true, ...ofTry<Delivery>(x, { at: 'accepted', number }) },
      ];
      yield [
        `lost answer to the POST (${x})`,
        { accepted: true, ...ofTry<Delivery>(x, { at: 'failed', number }) },
      ];
      yield [`POST: failed (${x})`, ofTry<Delivery>(x, { at: 'failed', number })];
    }
    if (at === 'accepted' || at === 'failed') {
      const isFirst = number > s.completed || fault === 'a completed attempt completes again';
      if (!isFirst) yield [`completeAttempt finds it completed (${x})`, idle];
      else yield [`completeAttempt: ${at} (${x})`, { ...idle, ...completed(s, number, at) }];
    }
    if (at !== 'idle') yield [`crash (${x})`, idle];
  };

/** The ledger row and the delivery move in one statement. */
const completed = (s: Delivery, number: number, at: 'accepted' | 'failed'): Partial<Delivery> => {
  const inRound = Math.min(s.in_round + 1, attemptsPerRound + 1);
  const isLast = inRound >= attemptsPerRound;
  const again = number <= s.completed && { completed_again: true };
  const row = { completed: Math.max(s.completed, number), begun: 0, in_round: inRound, ...again };
  if (at === 'accepted') return { ...row, status: 'delivered', due: false };
  return { ...row, status: isLast ? 'exhausted' : 'pending', due: false };
};

const temporal: Actor<Delivery> = function* (s) {
  if (s.a_at !== 'idle' && s.b_at === 'idle') {
    const held = { b_at: s.a_at, b_number: s.a_number };
    yield [
      'Temporal gives up the try and retries',
      { ...held, ...ofTry<Delivery>('a', { at: 'idle', number: 0 }) },
    ];
  }
  if (s.status === 'pending' && !s.due && s.begun === 0) yield ['the delay is over', { due: true }];
  if (s.workflow === 'running' && s.signal)
    yield ['the workflow reads the signal', { signal: false }];
  // A workflow cannot end while a signal waits for it.
  if (s.workflow === 'running' && s.status !== 'pending' && !s.signal && s.a_at === 'idle')
    yield ['the workflow ends', { workflow: 'ended', reset: false }];
  if (s.workflow === 'running')
    yield ['Temporal loses the workflow', { workflow: 'ended', signal: false, reset: false }];
  if (s.workflow === 'ended' && s.status === 'exhausted' && s.round < lastRound)
    yield ['admin resets the workflow', { workflow: 'running', reset: true }];
};

const begin = (s: Delivery): Partial<Delivery> => ({
  status: 'pending',
  round: s.round + 1,
  in_round: 0,
  due: true,
});

/** A replay: the round is committed first, and then the workflow hears of it. */
const replayOf = (x: Try, fault?: DeliveryFault): Actor<Delivery> =>
  function* (s) {
    const at = s[`replay_${x}_at`];
    const to = (next: typeof at): Partial<Delivery> => ({ [`replay_${x}_at`]: next });
    if (at === 'idle' && s.round === 1 && s.status !== 'pending')
      yield [`replay reads the round (replay ${x})`, to('saw_first_round')];
    if (at === 'saw_first_round') {
      const mayBegin =
        s.status !== 'pending' && (s.round === 1 || fault === 'round begun without its number');
      if (mayBegin) yield [`deliveries.replay (replay ${x})`, { ...begin(s), ...to('committed') }];
      else yield [`deliveries.replay finds it begun (replay ${x})`, to('idle')];
    }
    if (at === 'committed') {
      yield [
        `workflows.deliver (replay ${x})`,
        { workflow: 'running', signal: true, ...to('idle') },
      ];
      yield [`crash (replay ${x})`, to('idle')];
    }
  };

/** A run after a reset of an exhausted workflow begins one round. `deliveries.replay` of a failing one changes only the time. */
const others = (fault?: DeliveryFault): Actor<Delivery> =>
  function* (s) {
    if (s.workflow === 'running' && s.reset && s.a_at === 'idle')
      yield [
        'deliveries.replay after a reset',
        { reset: false, ...(s.status === 'exhausted' && s.round < lastRound && begin(s)) },
      ];
    if (s.status === 'pending' && !s.due && s.begun === 0)
      yield ['application asks: deliveries.replay of a failing one', { due: true }];
    if (
      s.status === 'pending' &&
      s.due &&
      s.workflow === 'ended' &&
      fault !== 'nobody heals an overdue delivery'
    )
      yield ['healPayments: restart', { workflow: 'running', signal: true }];
  };

const start: Delivery = {
  status: 'pending',
  round: 1,
  in_round: 0,
  completed: 0,
  begun: 0,
  due: true,
  workflow: 'running',
  signal: false,
  reset: false,
  replay_a_at: 'idle',
  replay_b_at: 'idle',
  a_at: 'idle',
  a_number: 0,
  b_at: 'idle',
  b_number: 0,
  accepted: false,
  completed_again: false,
};

/** From the event until it is delivered or exhausted, and the rounds after that. */
export const delivery = (fault?: DeliveryFault): Part<Delivery> => ({
  name: 'delivery and replay',
  starts: [start],
  actors: {
    a: tryOf('a', fault),
    b: tryOf('b', fault),
    temporal,
    replay_a: replayOf('a', fault),
    replay_b: replayOf('b', fault),
    others: others(fault),
  },
  invariants: {
    'an attempt is completed once, and its number is never used again': (s) => !s.completed_again,
    'a round has no attempts beyond its own': (s) => s.in_round <= attemptsPerRound,
    'an exhausted round had all its attempts': (s) =>
      s.status !== 'exhausted' || s.in_round === attemptsPerRound,
    'callers that saw the same round begin one': (s) => s.round <= lastRound,
    'a delivery is delivered only if the receiver accepted it': (s) =>
      s.status !== 'delivered' || s.accepted,
    'every POST has its row in the ledger': (s) =>
      [[s.a_at, s.a_number] as const, [s.b_at, s.b_number] as const].every(
        ([at, number]) =>
          at === 'idle' || at === 'read' || number <= Math.max(s.completed, s.begun),
      ),
  },
  goals: { 'a delivery ends delivered or exhausted': (s) => s.status !== 'pending' },
});
