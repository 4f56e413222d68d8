import { type Actor, ofTry, type Part, type Step, view } from './part.ts';

/** What was paid, in units. Both refunds together would be more. */
const paid = 2;
const amounts = { one: 1, two: 2 } as const;
const mostTells = 3;
type Name = keyof typeof amounts;

interface OneRefund {
  /** Postgres: the row, how often the gateway was told, and its events. A person decides what is `by_hand`. */
  status: 'none' | 'pending' | 'succeeded' | 'failed';
  told: number;
  by_hand: boolean;
  events: 'none' | 'succeeded' | 'failed' | 'both' | 'one_kind_twice';
  /** The gateway: what became of it, whether its list shows it, and how often it gave money back. */
  gateway: 'unknown' | 'pending' | 'done' | 'returned';
  listed: boolean;
  given: number;
  /** The try of `refundPayment`, with the `told` that it read, and one that Temporal has given up. */
  at: At;
  read: number;
  old_at: At;
  old_read: number;
  /** A replica that lags, or a backup. */
  was_status: 'none' | 'pending' | 'succeeded' | 'failed';
  was_told: number;
}
type At =
  'idle' | 'not_listed' | 'marked' | 'refused' | 'done' | 'returned' | 'sum_checked' | 'totals';

export type Refund = { [K in keyof OneRefund as `one_${K}`]: OneRefund[K] } & {
  [K in keyof OneRefund as `two_${K}`]: OneRefund[K];
} & {
  /** `refund_totals`. */
  held: number;
  refunded: number;
  /** A keyed gateway carries out one refund for each key. One without keys is told once, ever. */
  keyed: boolean;
};

export type RefundFault =
  | 'sum checked before the insert'
  | 'told again without asking'
  | 'told is written after the call'
  | 'a refusal after silence is an outcome'
  | 'a refusal counts although the retry told again'
  | 'no compare-and-set'
  | 'an untold refund ignores its likeness';

interface Bounds {
  fault?: RefundFault | undefined;
  shape?: 'two refunds' | 'two tries' | 'restores';
}

const other = { one: 'two', two: 'one' } as const;
const of = (s: Refund, name: Name): OneRefund => view(s, name) as OneRefund;
const set = (name: Name, changes: Partial<OneRefund>) => ofTry<Refund>(name, changes);

const givenBack = (s: Refund): number =>
  (Object.keys(amounts) as Name[]).reduce(
    (sum, name) =>
      sum + (of(s, name).gateway === 'returned' ? 0 : of(s, name).given * amounts[name]),
    0,
  );

/** `POST /payments/{id}/refunds`: one statement reserves the amount and writes the row. */
const create = (name: Name, fault?: RefundFault): Actor<Refund> =>
  function* (s) {
    const [refund, rival, amount] = [of(s, name), of(s, other[name]), amounts[name]];
    if (refund.status !== 'none') return;
    const fits = s.held + s.refunded + amount <= paid;
    const insert = {
      held: s.held + amount,
      ...set(name, { status: 'pending', told: 0, at: 'idle' }),
    };
    if (refund.at === 'sum_checked') yield [`application: insert the refund (${name})`, insert];
    // Without keys two refunds in flight cannot be told apart.
    else if (fits && (s.keyed || rival.status !== 'pending'))
      yield fault === 'sum checked before the insert'
        ? [`application: check the sum (${name})`, set(name, { at: 'sum_checked' })]
        : [`application: reserve (${name})`, insert];
  };

/** Status, totals and event in one transaction, by compare-and-set on the status. */
const finish = (
  s: Refund,
  name: Name,
  to: 'succeeded' | 'failed',
  fault?: RefundFault,
): Partial<Refund> => {
  const [{ status, events }, amount] = [of(s, name), amounts[name]];
  const allowed = status === 'pending' || (status === 'succeeded' && to === 'failed');
  if (!allowed && fault !== 'no compare-and-set') return {};
  const event =
    events === 'none' ? to : events === to || events !== 'succeeded' ? 'one_kind_twice' : 'both';
  return {
    ...set(name, { status: to, by_hand: false, events: event }),
    ...(status === 'pending' && { held: s.held - amount }),
    ...(to === 'succeeded' && { refunded: s.refunded + amount }),
    ...(status === 'succeeded' && to === 'failed' && { refunded: s.refunded - amount }),
  };
};

/** `refundPayment`, one try: ask, mark, tell, record. */
const tryOf = (name: Name, slot: '' | 'old_', { fault, shape }: Bounds): Actor<Refund> =>
  function* (s) {
    const [refund, label] = [of(s, name), slot === '' ? name : `${name} old`];
    const at = slot === '' ? refund.at : refund.old_at;
    const read = slot === '' ? refund.read : refund.old_read;
    const to = (next: At, told = read) => set(name, { [`${slot}at`]: next, [`${slot}read`]: told });
    const idle = to('idle', 0);
    const mark = fault === 'told is written after the call' ? {} : { told: read + 1 };

    if (at === 'idle' && slot === '' && refund.status === 'pending' && !refund.by_hand)
      yield* ask(s, name, to, fault);
    if (at === 'not_listed') {
      const mayTell =
        read === 0 || (s.keyed && read < mostTells) || fault === 'told again without asking';
      if (!mayTell)
        yield [
          `watched for a day, then by hand (${label})`,
          { ...idle, ...set(name, { by_hand: refund.status === 'pending' }) },
        ];
      else if (refund.told !== read || refund.status !== 'pending' || refund.by_hand)
        yield [`markTold finds it told (${label})`, idle];
      else yield [`markTold (${label})`, { ...set(name, mark), ...to('marked', read + 1) }];
    }
    if (at === 'marked') {
      const isNew = refund.gateway === 'unknown';
      const gives = isNew || !s.keyed;
      const effect = set(name, {
        ...(gives && { given: Math.min(refund.given + 1, 2) }),
        ...(isNew && { gateway: 'pending' }),
      });
      const marked =
        fault === 'told is written after the call'
          ? set(name, { told: Math.min(read, mostTells) })
          : {};
      // The gateway itself gives back no more than was paid, also after a restore has forgotten what it gave.
      if (shape !== 'restores' || !gives || givenBack(s) + amounts[name] <= paid) {
        yield [`gateway.refund: accepted (${label})`, { ...effect, ...marked, ...idle }];
        yield [`lost answer of gateway.refund (${label})`, { ...effect, ...idle }];
      }
      yield [`lost call of gateway.refund (${label})`, idle];
      // Also the answer "already refunded" to a refund that is ours.
      yield [`gateway.refund: refused (${label})`, { ...marked, ...to('refused') }];
    }
    if (at === 'refused') {
      // By compare-and-set on `told`: a retry may have told the gateway again since.
      const isLast =
        refund.told === read || fault === 'a refusal counts although the retry told again';
      const isOutcome = (read === 1 && isLast) || fault === 'a refusal after silence is an outcome';
      if (isOutcome)
        yield [`finishRefund: failed (${label})`, { ...idle, ...finish(s, name, 'failed', fault) }];
      else yield [`a refusal after silence: ask again (${label})`, idle];
    }
    if (at === 'done')
      yield [
        `finishRefund: succeeded (${label})`,
        { ...idle, ...finish(s, name, 'succeeded', fault) },
      ];
    if (at === 'returned')
      yield [`finishRefund: failed (${label})`, { ...idle, ...finish(s, name, 'failed', fault) }];
    if (at !== 'idle' && at !== 'sum_checked') yield [`crash (${label})`, idle];
    if (at !== 'idle' && slot === '' && shape === 'two tries' && refund.old_at === 'idle')
      yield [
        `Temporal gives up the try and retries (${name})`,
        { ...idle, ...set(name, { old_at: at, old_read: read }) },
      ];
  };

/** Asks before telling: `refunds()` shows what became of this refund, and those that Postgres has forgotten. */
const ask = function* (
  s: Refund,
  name: Name,
  to: (at: At, told: number) => Partial<Refund>,
  fault?: RefundFault,
): Iterable<Step<Refund>> {
  const [refund, rivalName] = [of(s, name), other[name]];
  const rival = of(s, rivalName);
  const isUntoldLikeness = refund.listed && !s.keyed && refund.told === 0;
  if (rival.listed && rival.status === 'none' && rival.gateway !== 'returned') {
    const fits = s.held + s.refunded + amounts[rivalName] <= paid;
    const isKnown = refund.told > 0 || (refund.listed && s.keyed);
    const ours = fits || isKnown ? {} : finish(s, name, 'failed');
    yield [
      `record the gateway's own refund (${name})`,
      {
        ...ours,
        refunded: s.refunded + amounts[rivalName],
        ...set(rivalName, { status: 'succeeded' }),
      },
    ];
  } else if (isUntoldLikeness && fault !== 'an untold refund ignores its likeness')
    yield [
      `gateway.refunds: one like it that we did not tell, by hand (${name})`,
      set(name, { by_hand: true }),
    ];
  else if (!refund.listed || isUntoldLikeness || fault === 'told again without asking')
    yield [`gateway.refunds: not listed (${name})`, to('not_listed', refund.told)];
  else if (refund.gateway === 'done')
    yield [`gateway.refunds: done (${name})`, to('done', refund.told)];
  else if (refund.gateway === 'returned')
    yield [`gateway.refunds: returned (${name})`, to('returned', refund.told)];
};

/** The gateway goes on by itself. A notification or the daily comparison reports what was returned. */
const gatewayOf = (name: Name): Actor<Refund> =>
  function* (s) {
    const refund = of(s, name);
    const isOut = refund.gateway === 'pending' || refund.gateway === 'done';
    if (refund.gateway !== 'unknown' && !refund.listed)
      yield [`the list shows it (${name})`, set(name, { listed: true })];
    if (refund.gateway === 'pending')
      yield [`the gateway carries it out (${name})`, set(name, { gateway: 'done' })];
    if (isOut && refund.listed)
      yield [`bank returns the money (${name})`, set(name, { gateway: 'returned' })];
    if (refund.gateway === 'returned' && refund.status === 'succeeded')
      yield [`notification: finishRefund: failed (${name})`, finish(s, name, 'failed')];
    if (
      refund.by_hand &&
      refund.at !== 'marked' &&
      refund.old_at !== 'marked' &&
      refund.gateway !== 'pending'
    )
      yield [
        `admin settles by the gateway's books (${name})`,
        finish(s, name, refund.gateway === 'done' ? 'succeeded' : 'failed'),
      ];
  };

/** A restore takes longer than the gateway's list lags. */
const restore: Actor<Refund> = function* (s) {
  const names = ['one', 'two'] as const;
  const differs = names.some(
    (name) =>
      of(s, name).status !== of(s, name).was_status || of(s, name).told !== of(s, name).was_told,
  );
  if (!differs) return;
  yield [
    'backup copies',
    Object.assign(
      {},
      ...names.map((name) =>
        set(name, { was_status: of(s, name).status, was_told: of(s, name).told }),
      ),
    ),
  ];
  if (
    names.some(
      (name) =>
        of(s, name).at !== 'idle' || (of(s, name).gateway !== 'unknown' && !of(s, name).listed),
    )
  )
    return;
  const total = (status: OneRefund['status']) =>
    names.reduce((sum, name) => sum + (of(s, name).was_status === status ? amounts[name] : 0), 0);
  yield [
    'replica or backup restored',
    {
      ...Object.assign(
        {},
        ...names.map((name) =>
          set(name, {
            status: of(s, name).was_status,
            told: of(s, name).was_told,
            by_hand: false,
            events: 'none',
          }),
        ),
      ),
      held: total('pending'),
      refunded: total('succeeded'),
    },
  ];
};

const one: OneRefund = {
  status: 'none',
  told: 0,
  by_hand: false,
  events: 'none',
  gateway: 'unknown',
  listed: false,
  given: 0,
  at: 'idle',
  read: 0,
  old_at: 'idle',
  old_read: 0,
  was_status: 'none',
  was_told: 0,
};
const start = { ...set('one', one), ...set('two', one), held: 0, refunded: 0 } as Refund;

/** Money that an application gives back. */
export const refund = (bounds: Bounds = {}): Part<Refund> => {
  const { fault, shape = 'two refunds' } = bounds;
  const names: Name[] = shape === 'two tries' ? ['one'] : ['one', 'two'];
  const each = (holds: (s: Refund, name: Name) => boolean) => (s: Refund) =>
    names.every((name) => holds(s, name));
  const sum = (value: (name: Name) => number) =>
    names.reduce((total, name) => total + value(name), 0);
  const actors = names.flatMap((name): [string, Actor<Refund>][] => [
    [`create_${name}`, create(name, fault)],
    [`try_${name}`, tryOf(name, '', bounds)],
    ...(shape === 'two tries'
      ? [[`given_up_${name}`, tryOf(name, 'old_', bounds)] as [string, Actor<Refund>]]
      : []),
    [`gateway_${name}`, gatewayOf(name)],
  ]);
  return {
    name: `refund, ${shape}`,
    starts: [
      { ...start, keyed: true },
      { ...start, keyed: false },
    ],
    actors: { ...Object.fromEntries(actors), ...(shape === 'restores' && { restore }) },
    invariants: {
      // A restore may forget a refund, and then it counts even where it does not fit any more.
      ...(shape !== 'restores' && {
        'reserved and refunded together never exceed what was paid': (s: Refund) =>
          s.held + s.refunded <= paid,
      }),
      'never more is given back than was paid': (s) => givenBack(s) <= paid,
      'a refund is carried out once': each((s, name) => of(s, name).given <= 1),
      'a refund has one event of each kind': each(
        (s, name) => of(s, name).events !== 'one_kind_twice',
      ),
      'the totals are those of the rows': (s) =>
        s.held === sum((name) => (of(s, name).status === 'pending' ? amounts[name] : 0)) &&
        s.refunded === sum((name) => (of(s, name).status === 'succeeded' ? amounts[name] : 0)),
      'a refund that failed has given nothing': each(
        (s, name) =>
          of(s, name).status !== 'failed' ||
          of(s, name).gateway === 'unknown' ||
          of(s, name).gateway === 'returned',
      ),
    },
    goals: {
      'a refund ends, or a person decides': each(
        (s, name) => of(s, name).status !== 'pending' || of(s, name).by_hand,
      ),
    },
  };
};
