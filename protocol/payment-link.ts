import { type Actor, ofTry, type Part, type Step, view } from './part.ts';

type Name = 'one' | 'two';
const names = ['one', 'two'] as const;

/** A payment of the link, and the try of the activity that ends it. `paid`: the end of the link comes next. */
interface Tried {
  status: 'none' | 'open' | 'paid' | 'unpaid';
  money: 'none' | 'captured' | 'back';
  at: 'idle' | 'paid';
}

/** Two payers, two payments that they begin one after the other, and the sweeper. */
export type PaymentLink = { [K in keyof Tried as `one_${K}`]: Tried[K] } & {
  [K in keyof Tried as `two_${K}`]: Tried[K];
} & {
  status: 'open' | 'disabled' | 'paid' | 'expired';
  /** Its time is over. */
  over: boolean;
  event: 'none' | 'paid' | 'expired' | 'second';
  /** A payment that the link has not begun has paid the order. */
  elsewhere: boolean;
  /** A payer has sent the form, and the service has found the link. */
  a_at: 'idle' | 'found';
  b_at: 'idle' | 'found';
  sweeper_at: 'idle' | 'listed';
  /** A payment was begun when nobody could begin one. */
  begun_late: boolean;
};

export type PaymentLinkFault =
  | 'the link is not read again under its lock'
  | 'the link is ended by what was read before'
  | 'the end does not wait for the payment that is open'
  | 'a disabled link is not paid'
  | 'the sweeper looks at expired links alone'
  | 'a payment of the link takes no part in the claim of the order';

const of = (s: PaymentLink, name: Name): Tried => view(s, name) as Tried;
const set = (name: Name, changes: Partial<Tried>) => ofTry<PaymentLink>(name, changes);
const some = (s: PaymentLink, status: Tried['status']): boolean =>
  names.some((name) => of(s, name).status === status);

const mayBegin = (s: PaymentLink): boolean =>
  s.status === 'open' && !s.over && !some(s, 'open') && !some(s, 'paid') && !s.elsewhere;

/** A payment that has begun may still pay it. */
const waits = (s: PaymentLink, fault?: PaymentLinkFault): boolean =>
  some(s, 'open') && fault !== 'the end does not wait for the payment that is open';

/** The end of a link reads the link and its payments under the lock of the link. */
const endOf = (s: PaymentLink, fault?: PaymentLinkFault): 'paid' | 'expired' | undefined => {
  const isOpen = s.status === 'open';
  if (some(s, 'paid'))
    return isOpen || (s.status === 'disabled' && fault !== 'a disabled link is not paid')
      ? 'paid'
      : undefined;
  return isOpen && s.over && !waits(s, fault) ? 'expired' : undefined;
};

const end = (
  s: PaymentLink,
  name: string,
  { idle, to }: { idle: Partial<PaymentLink>; to: 'paid' | 'expired' | undefined },
): Step<PaymentLink> => {
  if (to === undefined) return [`linkEnds.end: it goes on, or had ended (${name})`, idle];
  const event = s.event === 'none' ? to : 'second';
  return [`linkEnds.end: ${to} (${name})`, { ...idle, status: to, event }];
};

/** The page's form, sent: the link is found, and then a payment is made under its lock. */
const payer = (name: 'a' | 'b', fault?: PaymentLinkFault): Actor<PaymentLink> =>
  function* (s): Iterable<Step<PaymentLink>> {
    const idle = ofTry<PaymentLink>(name, { at: 'idle' });
    if (s[`${name}_at`] === 'idle') {
      // A third payment would meet nobody whom the second one does not meet.
      const finds = fault !== 'the link is not read again under its lock' || mayBegin(s);
      if (s.two_status === 'none' && finds)
        yield [`payer sends the form, getForPayer (${name})`, ofTry(name, { at: 'found' })];
      return;
    }
    const isFree = mayBegin(s);
    const free = names.find((each) => of(s, each).status === 'none');
    const begins = isFree || fault === 'the link is not read again under its lock';
    if (!begins) yield [`payer begins nothing (${name})`, idle];
    else if (free)
      yield [
        `payer: payments.insert, ${free} (${name})`,
        { ...idle, ...set(free, { status: 'open' }), begun_late: s.begun_late || !isFree },
      ];
    yield [`crash (${name})`, idle];
  };

const activity = (name: Name, fault?: PaymentLinkFault): Actor<PaymentLink> =>
  function* (s): Iterable<Step<PaymentLink>> {
    const { status, money, at } = of(s, name);
    if (money === 'none' && status !== 'none' && status !== 'paid')
      yield [`payer pays (${name})`, set(name, { money: 'captured' })];
    if (at === 'paid') {
      yield end(s, name, { idle: set(name, { at: 'idle' }), to: endOf(s, fault) });
      // The sweeper alone repeats it.
      yield [`crash (${name})`, set(name, { at: 'idle' })];
    }
    if (status === 'open') {
      const isBlind = fault === 'a payment of the link takes no part in the claim of the order';
      const isTaken = s.elsewhere && !isBlind;
      if (money === 'captured' && isTaken)
        yield [`finalize finds the order paid (${name})`, set(name, { status: 'unpaid' })];
      else if (money === 'captured')
        yield [`finalize paid (${name})`, set(name, { status: 'paid', at: 'paid' })];
      // The parts "end of a payment" and "cancel" say when. The gateway may hold money of it.
      yield [`finalize unpaid (${name})`, set(name, { status: 'unpaid' })];
    }
    // Stands for the part "late money".
    if (status === 'unpaid' && money === 'captured')
      yield [`resolveLatePayment (${name})`, set(name, { money: 'back' })];
  };

/** Lists links that are due, and ends each of them later. */
const sweeper = (fault?: PaymentLinkFault): Actor<PaymentLink> =>
  function* (s): Iterable<Step<PaymentLink>> {
    const idle = { sweeper_at: 'idle' } as const;
    const isPaid = some(s, 'paid') && fault !== 'the sweeper looks at expired links alone';
    const isDue =
      (isPaid && s.status !== 'paid') || (s.status === 'open' && s.over && !waits(s, fault));
    if (s.sweeper_at === 'idle' && isDue)
      yield ['linkEnds.listDue (sweeper)', { sweeper_at: 'listed' }];
    if (s.sweeper_at !== 'listed') return;
    const read = some(s, 'paid') ? 'paid' : 'expired';
    const isBlind = fault === 'the link is ended by what was read before';
    yield end(s, 'sweeper', { idle, to: isBlind ? read : endOf(s, fault) });
    yield ['crash (sweeper)', idle];
  };

const others: Actor<PaymentLink> = function* (s) {
  if (s.status === 'open') yield ['application: links.disable', { status: 'disabled' }];
  if (!s.over) yield ['the time of the link is over', { over: true }];
  if (!s.elsewhere && !some(s, 'paid'))
    yield ['application: another payment of the order is paid', { elsewhere: true }];
};

const none: Tried = { status: 'none', money: 'none', at: 'idle' };
const start = {
  ...set('one', none),
  ...set('two', none),
  status: 'open',
  over: false,
  event: 'none',
  elsewhere: false,
  a_at: 'idle',
  b_at: 'idle',
  sweeper_at: 'idle',
  begun_late: false,
} as PaymentLink;

/** A link for an invoice, and the payments that its payers begin. */
export const paymentLink = (fault?: PaymentLinkFault): Part<PaymentLink> => ({
  name: 'payment link',
  starts: [start],
  actors: {
    a: payer('a', fault),
    b: payer('b', fault),
    one: activity('one', fault),
    two: activity('two', fault),
    sweeper: sweeper(fault),
    others,
  },
  invariants: {
    'a link has one event, written with its end': (s) =>
      s.event === (s.status === 'paid' || s.status === 'expired' ? s.status : 'none'),
    'a link is paid only by a payment that is paid': (s) => s.status !== 'paid' || some(s, 'paid'),
    'a link expires only when none of its payments is paid or open': (s) =>
      s.status !== 'expired' || (!some(s, 'paid') && !some(s, 'open')),
    'nobody begins to pay a link that is paid, disabled or over, or while somebody pays': (s) =>
      !s.begun_late,
    'of the payments of a link one is open': (s) =>
      s.one_status !== 'open' || s.two_status !== 'open',
    'of the payments of its order one is paid': (s) =>
      [s.one_status === 'paid', s.two_status === 'paid', s.elsewhere].filter(Boolean).length <= 1,
  },
  goals: {
    'a link with a payment that is paid is paid': (s) => !some(s, 'paid') || s.status === 'paid',
    'a link whose time is over ends': (s) => s.status !== 'open',
    'captured money ends as paid or goes back': (s) =>
      names.every((name) => of(s, name).money !== 'captured' || of(s, name).status === 'paid'),
  },
});
