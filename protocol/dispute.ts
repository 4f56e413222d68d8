import { type Actor, ofTry, type Part, type Step, type Try, view } from './part.ts';

/** In units. The refund is of one unit, the dispute of both. */
const paid = 2;
const refunded = 1;
const disputed = 2;

/** The states of a dispute at the gateway, in an order that never goes back. */
const course = [
  'none',
  'inquiry',
  'chargeback',
  'won',
  'second_chargeback',
  'lost',
  'won_again',
] as const;
type Says = (typeof course)[number];

interface Reader {
  at: 'idle' | 'claimed' | 'asked';
  /** The answer of the gateway, and whether nobody has written since the look began. */
  heard: Says;
  fresh: boolean;
}

export type Dispute = { [K in keyof Reader as `a_${K}`]: Reader[K] } & {
  [K in keyof Reader as `b_${K}`]: Reader[K];
} & {
  gateway: Says;
  /** The gateway has a notification to send. */
  notice: boolean;
  /** Postgres: the dispute as recorded, and whether somebody asked to look. */
  recorded: Says;
  due: boolean;
  refund: 'none' | 'checked' | 'pending' | 'told' | 'succeeded' | 'failed';
  /** Did a refund get money that a recorded chargeback held, and did the record go back? */
  gave_held: boolean;
  went_back: boolean;
};

export type DisputeFault =
  | 'the hold is read before the insert'
  | 'a refund is told without a look at the hold'
  | 'a record without its number'
  | 'nobody looks after an end';

const after = (one: Says, other: Says) => course.indexOf(one) > course.indexOf(other);

/** A chargeback that is not won holds its amount. An inquiry holds nothing: a refund ends it. */
const heldBy = (says: Says): number =>
  says === 'chargeback' || says === 'second_chargeback' || says === 'lost' ? disputed : 0;
const fits = (s: Dispute): boolean => heldBy(s.recorded) + refunded <= paid;
const isOpen = (says: Says): boolean =>
  says === 'inquiry' || says === 'chargeback' || says === 'second_chargeback';

const courses: Partial<Record<Says, readonly Says[]>> = {
  none: ['inquiry', 'chargeback'],
  inquiry: ['chargeback'],
  chargeback: ['won', 'lost'],
  won: ['second_chargeback'],
  second_chargeback: ['lost', 'won_again'],
  lost: ['won_again'],
};

const bank: Actor<Dispute> = function* (s) {
  for (const next of courses[s.gateway] ?? [])
    yield [`bank: ${next}`, { gateway: next, notice: true }];
};

/** Each report of a dispute requests a look, and never says itself what the dispute is. */
const reports = (fault?: DisputeFault): Actor<Dispute> =>
  function* (s) {
    const request: Partial<Dispute> = { due: true, a_fresh: false, b_fresh: false };
    const ignores =
      fault === 'nobody looks after an end' && s.recorded !== 'none' && !isOpen(s.recorded);
    if (s.notice) {
      yield ['notification: requestLook', { notice: false, ...(ignores ? {} : request) }];
      yield ['lost notification', { notice: false }];
    }
    if (isOpen(s.recorded) && !s.due) yield ['a day passes', { due: true }];
    // The book of a day shows every withdrawal and every return.
    if (heldBy(s.gateway) !== heldBy(s.recorded) && !s.due && !ignores)
      yield ['book: requestLook', request];
  };

/** One look of the sweeper: claim, ask the gateway, record. Two of them may run at once. */
const look = (name: Try, fault?: DisputeFault): Actor<Dispute> =>
  function* (s): Iterable<Step<Dispute>> {
    const { at, heard, fresh } = view(s, name) as Reader;
    const to = (changes: Partial<Reader>) => ofTry<Dispute>(name, changes);
    const idle = to({ at: 'idle', heard: 'none', fresh: false });
    if (at === 'idle' && s.due) yield [`claimLooks (${name})`, to({ at: 'claimed', fresh: true })];
    if (at === 'claimed') {
      yield [`gateway.disputes (${name})`, to({ at: 'asked', heard: s.gateway })];
      yield [`lost answer of gateway.disputes (${name})`, idle];
    }
    if (at === 'asked') {
      if (fresh || fault === 'a record without its number')
        yield [
          `recordLook (${name})`,
          {
            a_fresh: false,
            b_fresh: false,
            ...idle,
            recorded: heard,
            due: false,
            went_back: s.went_back || after(s.recorded, heard),
          },
        ];
      else yield [`recordLook finds another look (${name})`, idle];
    }
    if (at !== 'idle') yield [`crash (${name})`, idle];
  };

const refund = (fault?: DisputeFault): Actor<Dispute> =>
  function* (s) {
    const insert = { refund: 'pending', gave_held: s.gave_held || !fits(s) } as const;
    if (s.refund === 'none' && fits(s))
      yield fault === 'the hold is read before the insert'
        ? ['application: read the hold', { refund: 'checked' }]
        : ['application: reserve', insert];
    if (s.refund === 'checked') yield ['application: insert the refund', insert];
    if (s.refund === 'pending') {
      if (fits(s) || fault === 'a refund is told without a look at the hold')
        yield ['markTold', { refund: 'told', gave_held: s.gave_held || !fits(s) }];
      else yield ['finishRefund: failed, disputed', { refund: 'failed' }];
    }
    if (s.refund === 'told') {
      yield ['finishRefund: succeeded', { refund: 'succeeded' }];
      if (heldBy(s.gateway) > 0) yield ['gateway.refund: refused', { refund: 'failed' }];
    }
  };

const idle: Reader = { at: 'idle', heard: 'none', fresh: false };
const start = {
  ...ofTry<Dispute>('a', { ...idle }),
  ...ofTry<Dispute>('b', { ...idle }),
  gateway: 'none',
  notice: false,
  recorded: 'none',
  due: false,
  refund: 'none',
  gave_held: false,
  went_back: false,
} as Dispute;

/** The bank takes money back that an application may give back, too. */
export const dispute = (fault?: DisputeFault): Part<Dispute> => ({
  name: 'dispute',
  starts: [start],
  actors: {
    bank,
    reports: reports(fault),
    a: look('a', fault),
    b: look('b', fault),
    refund: refund(fault),
  },
  invariants: {
    'no refund takes or gives money that a recorded chargeback holds': (s) => !s.gave_held,
    'the record of a dispute never goes back': (s) => !s.went_back,
    'the record is never ahead of the gateway': (s) => !after(s.recorded, s.gateway),
  },
  goals: {
    'the record shows what the gateway holds': (s) => heldBy(s.recorded) === heldBy(s.gateway),
    'a refund ends': (s) => s.refund !== 'checked' && s.refund !== 'pending' && s.refund !== 'told',
  },
});
