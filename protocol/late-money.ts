import { type Actor, ofTry, type Part, type Step, type Try } from './part.ts';

const mostReversals = 3;

export interface LateMoney {
  /** Postgres: `late_payments`, and the stored verifications. */
  result: 'none' | 'found' | 'returns' | 'reversed' | 'by_hand';
  reversals: number;
  doubt: boolean;
  /** Less than 50 seconds since the last reversal began. */
  recent: boolean;
  /** Temporal. `last`: a day has passed, so the next try decides. */
  late: 'none' | 'running' | 'ended';
  last: boolean;
  /** The gateway: whether an inquiry shows a reversal, and what became of the money of the ended payment. */
  gateway: 'reports' | 'two_step';
  money: 'none' | 'unverified' | 'captured' | 'back';
  given_back: number;
  /** Each try: where it stands, the record that it read first, and what the gateway answered last. */
  a_at: At;
  a_read: Read;
  a_saw: Answer;
  b_at: At;
  b_read: Read;
  b_saw: Answer;
  /** A replica that lags, or a backup. */
  old_result: LateMoney['result'];
  old_reversals: number;
}
type At = 'idle' | 'inquired' | 'recorded' | 'begun' | 'reversed';
/** The number of reversals of a found record. */
type Read = 'no_record' | 0 | 1 | 2 | 3;
type Answer = '-' | 'captured' | 'on_its_way' | 'none' | 'confirmed' | 'refused' | 'unknown';

interface Bounds {
  fault?: LateMoneyFault | undefined;
  restores?: boolean;
}

export type LateMoneyFault =
  | 'nobody looks for late money'
  | 'reversed again without asking'
  | 'a lost answer counts as done'
  | 'found counts as resolved';

const resolved = (s: LateMoney): boolean => s.result !== 'none' && s.result !== 'found';

/** The answer of `gateway.inquire` about the money. A gateway that does not report reversals says `captured`. */
const inquire = (s: LateMoney): Answer => {
  if (s.money === 'unverified') return 'on_its_way';
  if (s.money === 'captured' || (s.given_back > 0 && s.gateway === 'two_step')) return 'captured';
  return 'none';
};

/** `resolveLatePayment`, one try: inquire, record, reverse, inquire again. */
const tryOf = (x: Try, { fault, restores }: Bounds): Actor<LateMoney> =>
  function* (s) {
    const [at, read, saw] = [s[`${x}_at`], s[`${x}_read`], s[`${x}_saw`]];
    const reports = s.gateway === 'reports';
    const to = (next: At, answer: Answer): Partial<LateMoney> =>
      ofTry(x, { at: next, saw: answer });
    const idle: Partial<LateMoney> = ofTry(x, { at: 'idle', read: 'no_record', saw: '-' });
    const done = { ...idle, ...(x === 'a' && { late: 'ended' as const }) };
    const finish = (result: LateMoney['result']): Partial<LateMoney> => ({
      ...done,
      // The gateway may capture money after it has said that it returns it.
      ...((!resolved(s) || s.result === 'returns') && { result }),
    });

    const decide = function* (): Iterable<Step<LateMoney>> {
      const reversals = read === 'no_record' ? 0 : read;
      const blind = fault === 'reversed again without asking';
      const most = reports || blind ? mostReversals : 1;
      if (fault === 'found counts as resolved') yield [`done (${x})`, done];
      else if (reversals >= most || s.last) yield [`record by_hand (${x})`, finish('by_hand')];
      else if (s.result !== 'found' || s.reversals >= most || (s.recent && !blind))
        yield [`beginReversal refuses (${x})`, idle];
      else
        yield [
          `beginReversal (${x})`,
          { reversals: s.reversals + 1, recent: true, ...to('begun', '-') },
        ];
    };

    if (at === 'idle' && x === 'a' && s.late === 'running') {
      if (resolved(s)) yield [`latePayments.get: resolved (${x})`, done];
      else {
        const reads = ofTry<LateMoney>(x, {
          read: s.result === 'none' ? 'no_record' : s.reversals,
        });
        yield [`gateway.inquire (${x})`, { ...reads, ...to('inquired', inquire(s)) }];
        yield [`lost answer of gateway.inquire (${x})`, { ...reads, ...to('inquired', 'unknown') }];
      }
    }
    if (at === 'inquired') {
      if (saw === 'none')
        yield read === 'no_record'
          ? [`nothing to do (${x})`, done]
          : [`record reversed (${x})`, finish('reversed')];
      else if (saw === 'captured' && read === 'no_record')
        yield [
          `record found (${x})`,
          { ...(s.result === 'none' && { result: 'found' }), ...to('recorded', saw) },
        ];
      else if (saw === 'captured') yield* decide();
      else if (saw === 'on_its_way' && !s.doubt) yield [`record returns (${x})`, finish('returns')];
      else if (s.last) yield [`record by_hand (${x})`, finish('by_hand')];
      else yield [`retry (${x})`, idle];
    }
    if (at === 'recorded') yield* decide();
    if (at === 'begun') {
      // Providers say that a reversal can happen once. We rely on it only after a restore has forgotten one.
      const again = !reports && s.given_back > 0 && !restores;
      const carries = s.money === 'captured' || again;
      const effect: Partial<LateMoney> = carries
        ? { money: 'back', given_back: s.given_back + 1 }
        : {};
      yield [
        `gateway.reverse (${x})`,
        { ...effect, ...to('reversed', carries ? 'confirmed' : 'refused') },
      ];
      yield [`lost answer of gateway.reverse (${x})`, { ...effect, ...to('reversed', 'unknown') }];
      yield [`lost call of gateway.reverse (${x})`, to('reversed', 'unknown')];
    }
    if (at === 'reversed') {
      // The second inquiry of the try.
      const now = inquire(s);
      const confirmed = saw === 'confirmed' && !(reports && now === 'captured');
      if (now === 'none' || confirmed) yield [`record reversed (${x})`, finish('reversed')];
      else if (saw === 'unknown' && fault !== 'a lost answer counts as done')
        yield [`retry (${x})`, idle];
      else if (saw === 'unknown') yield [`record reversed (${x})`, finish('reversed')];
      else yield [`record by_hand (${x})`, finish('by_hand')];
    }
    if (at !== 'idle') yield [`crash (${x})`, idle];
  };

const temporal: Actor<LateMoney> = function* (s) {
  if (s.a_at !== 'idle' && s.b_at === 'idle') {
    const held = ofTry<LateMoney>('b', { at: s.a_at, read: s.a_read, saw: s.a_saw });
    yield [
      'Temporal gives up the try and retries',
      { ...held, ...ofTry<LateMoney>('a', { at: 'idle', read: 'no_record', saw: '-' }) },
    ];
  }
  if (s.late === 'running' && !s.last) yield ['a day has passed', { last: true }];
  // A call of ours takes less than 50 seconds, so none is under way after them.
  if (s.recent && s.a_at !== 'begun' && s.b_at !== 'begun')
    yield ['50 seconds have passed', { recent: false }];
};

/** Who starts the search: a notification, a stored verification in doubt, the payer's return. */
const watchers = (fault?: LateMoneyFault): Actor<LateMoney> =>
  function* (s) {
    const start = { late: 'running', last: false } as const;
    if (fault === 'nobody looks for late money' || s.late === 'running') return;
    if (s.gateway === 'reports' && s.money === 'captured' && !resolved(s))
      yield ['notification: recheckLatePayment', start];
    if (s.doubt && !resolved(s)) yield ['afterFinalized: recheckLatePayment', start];
    if (!resolved(s)) yield ['payer returns: recheckLatePayment', start];
    if (s.money === 'unverified' && s.result === 'none')
      yield ['inquireAtGateways: startLatePayment', start];
  };

const payerAndGateway: Actor<LateMoney> = function* (s) {
  if (s.money === 'none')
    yield ['payer pays', { money: s.gateway === 'reports' ? 'captured' : 'unverified' }];
  if (s.money === 'unverified') yield ['the gateway returns unverified money', { money: 'back' }];
};

const restore: Actor<LateMoney> = function* (s) {
  if (s.result === s.old_result && s.reversals === s.old_reversals) return;
  yield ['replica or backup copies', { old_result: s.result, old_reversals: s.reversals }];
  // `reconcile --heal` starts the searches that are not resolved.
  yield [
    'failover or restore',
    { result: s.old_result, reversals: s.old_reversals, recent: false },
  ];
};

const start: LateMoney = {
  result: 'none',
  reversals: 0,
  doubt: false,
  recent: false,
  late: 'none',
  last: false,
  gateway: 'reports',
  money: 'none',
  given_back: 0,
  a_at: 'idle',
  a_read: 'no_record',
  a_saw: '-',
  b_at: 'idle',
  b_read: 'no_record',
  b_saw: '-',
  old_result: 'none',
  old_reversals: 0,
};

/** Money of a payment that has ended without `paid`. */
export const lateMoney = ({ fault, restores = false }: Bounds = {}): Part<LateMoney> => ({
  name: restores ? 'late money, with restores' : 'late money',
  starts: [
    start,
    { ...start, gateway: 'two_step' },
    // A verification has captured the money after another try had ended the payment.
    { ...start, gateway: 'two_step', money: 'captured', doubt: true },
  ],
  actors: {
    a: tryOf('a', { fault, restores }),
    temporal,
    watchers: watchers(fault),
    payerAndGateway,
    // One try is enough with restores: two of them are the part without.
    ...(restores ? { restore } : { b: tryOf('b', { fault, restores }) }),
  },
  invariants: {
    'money is given back once': (s) => s.given_back <= 1,
    'money that is recorded as reversed is back': (s) =>
      s.result !== 'reversed' || s.money !== 'captured',
    'every reversal was counted before its call': (s) => restores || s.given_back <= s.reversals,
  },
  goals: {
    'captured money goes back, or a person looks': (s) =>
      (s.money !== 'captured' && s.money !== 'unverified') || s.result === 'by_hand',
  },
});
