import { type Actor, ofTry, type Step, view } from './part.ts';

export type Name = 'one' | 'two';
/** `lost`: failed with `order_already_paid`. `unpaid`: every other end without money. `refused`: the create got 409. */
export type Status = 'none' | 'refused' | 'inserting' | 'open' | 'paid' | 'lost' | 'unpaid';
/**
 * Where a try stands. `opening`: `openPayment` before the gateway. `waiting`, `unverified`, `captured`, `gone`: what the
 * gateway said. `may_take`: the order is claimed, or the application does not have the option, and the call that takes
 * unverified money comes next. `off_waiting`: in `cancelPayment`, which the winner asked for. `refused_paid`: the
 * statement of a paid one has found the order taken, and the payment is read again. `beaten`: another payment has the
 * order, and the statement of a lost one comes next; `beaten_read` belongs to a fault. `held`: that statement has not
 * found the order paid, and the payment is read again. `committed`: `afterFinalized` comes next.
 */
type At =
  | 'idle'
  | 'opening'
  | 'waiting'
  | 'unverified'
  | 'may_take'
  | 'captured'
  | 'gone'
  | 'off_waiting'
  | 'refused_paid'
  | 'beaten'
  | 'beaten_read'
  | 'held'
  | 'committed';

export interface One {
  /** Postgres. `paid_while`: the option when it became paid. `doubt`: a stored verification may have taken money. */
  status: Status;
  opened: boolean;
  sent: boolean;
  claim: boolean;
  paid_while: '-' | 'off' | 'on';
  doubt: boolean;
  /** What became of a paid one's money: refunded or lost in full, and perhaps back from the bank. */
  gone: 'no' | 'refunded' | 'lost' | 'returned';
  /** Temporal. `retry`: an earlier try broke off. `call_off`: the winner's signal. `known`: the workflow knows the end. */
  retry: boolean;
  call_off: boolean;
  known: boolean;
  late: boolean;
  /** The gateway. `two_step` returns what nobody verifies. `one_step` takes at once, and closes what nobody has paid. */
  gateway: 'two_step' | 'one_step';
  silent: boolean;
  closed: boolean;
  money: 'none' | 'unverified' | 'captured' | 'back';
  /** The try that Temporal waits for. `free`: it has read the application without the option. */
  at: At;
  free: boolean;
  /** A backup. */
  old_status: Status;
  old_claim: boolean;
}

/** Two payments of one order, and a try of the first that Temporal has given up. */
export type Order = { [K in keyof One as `one_${K}`]: One[K] } & {
  [K in keyof One as `two_${K}`]: One[K];
} & {
  one_old_at: At;
  /** The option of the application. */
  option: boolean;
  /** A two-step gateway took money of a payment that did not hold the order any more. */
  stolen: boolean;
  copied: boolean;
  restored: boolean;
};

export type OrderFault =
  | 'the order is read, then claimed'
  | 'the end does not look at the order'
  | 'a held claim loses at once'
  | 'an unpaid end keeps its claim'
  | 'a claim is never taken over'
  | 'captured money takes over no claim'
  | 'a claim is taken over before its call is over'
  | 'a whole refund keeps the claim'
  | 'a lost chargeback keeps the claim'
  | 'a returned refund claims again'
  | 'nobody looks for the money of the loser'
  | 'the winner calls nobody off'
  | 'a call-off joins the verification that runs'
  | 'the opening does not look at the order'
  | 'a payment loses by what was read before'
  | 'a refused end forgets what it took'
  | 'the option is read before the call';

/** `life`: refunds, the option switched on. `silence`: a gateway that never answers again. `calls off`: no deadline. */
export type OrderShape = 'life' | 'two tries' | 'silence' | 'calls off' | 'restores';
export interface Bounds {
  fault?: OrderFault | undefined;
  shape?: OrderShape | undefined;
}

export const names = ['one', 'two'] as const;
export const other = { one: 'two', two: 'one' } as const;
export const of = (s: Order, name: Name): One => view(s, name) as One;
export const set = (name: Name, changes: Partial<One>) => ofTry<Order>(name, changes);

export const isOpen = ({ status }: One): boolean => status === 'open';
export const hasEnded = ({ status }: One): boolean =>
  status === 'paid' || status === 'lost' || status === 'unpaid';
/** All of its money has gone back. */
export const isGone = ({ gone }: One): boolean => gone === 'refunded' || gone === 'lost';
/** It is paid, and its money has not gone back. */
export const keeps = (it: One): boolean => it.status === 'paid' && !isGone(it);

interface Try extends Bounds {
  s: Order;
  name: Name;
  it: One;
  rival: One;
  /** It is the one that Temporal has given up. */
  isOld: boolean;
  at: At;
  label: string;
  /** From its deadline on a payment is asked about again and again. The shape `calls off` is before it. */
  isDue: boolean;
  /** Elsewhere no end without money follows a verification that may have taken some. */
  doubts: boolean;
  /** Crashes and lost answers of the second payment meet nobody whom those of the first one do not meet. */
  isSpared: boolean;
  to: (next: At) => Partial<Order>;
  /** The activity returns, and its workflow may run another one. */
  over: () => Partial<Order>;
}

const readTry = (s: Order, name: Name, isOld: boolean, { fault, shape }: Bounds): Try => {
  const it = of(s, name);
  const to = (at: At): Partial<Order> => (isOld ? { one_old_at: at } : set(name, { at }));
  return {
    ...{ s, name, it, isOld, to, fault, shape },
    rival: of(s, other[name]),
    at: isOld ? s.one_old_at : it.at,
    label: isOld ? `${name} old` : name,
    isDue: shape !== 'calls off',
    doubts: shape === 'two tries' || shape === 'calls off',
    isSpared: shape === 'two tries' && name === 'two',
    over: () => (isOld ? to('idle') : set(name, { at: 'idle', free: false, retry: false })),
  };
};

/** The outcome, the event, the claim and the exchanges in one statement, for an open payment alone. */
const finalize = (tried: Try, status: 'paid' | 'lost' | 'unpaid'): Step<Order> => {
  const { s, name, it, rival, at, label, to, fault } = tried;
  const isRead = fault === 'the option is read before the call' && it.free;
  const isBlind = isRead || fault === 'the end does not look at the order';
  const doubt = it.doubt || (tried.doubts && at === 'captured');
  if (!isOpen(it))
    return [
      `finalize finds the payment ended (${label})`,
      { ...set(name, { doubt }), ...to('committed') },
    ];
  if (status === 'paid') {
    const isTaken = () => s.option && (keeps(rival) || (rival.claim && isOpen(rival)));
    if (!isBlind && isTaken())
      return [
        `finalize paid finds the order taken (${label})`,
        {
          ...set(name, { doubt: doubt && fault !== 'a refused end forgets what it took' }),
          ...to('refused_paid'),
        },
      ];
    const claim = s.option && !isRead;
    const paid = { status, doubt, claim, paid_while: s.option ? 'on' : 'off' } as const;
    return [`finalize paid (${label})`, { ...set(name, paid), ...to('committed') }];
  }
  // It loses only to a payment that the same statement sees paid.
  const seesPaid = () => keeps(rival) || (fault === 'a held claim loses at once' && rival.claim);
  if (status === 'lost' && at !== 'beaten_read' && !seesPaid())
    return [`finalize lost does not find the order paid (${label})`, to('held')];
  const claim = fault === 'an unpaid end keeps its claim' && it.claim;
  return [
    `finalize ${status} (${label})`,
    { ...set(name, { status, doubt, claim }), ...to('committed') },
  ];
};

const recordInquiry = ({ it, label, to, over }: Try): Step<Order> =>
  isOpen(it)
    ? [`recordInquiry (${label})`, over()]
    : [`recordInquiry finds the payment ended (${label})`, to('committed')];

/** No answer, which is stored as such. */
const unanswered = ({ name, it, doubts, to, over }: Try): Partial<Order> => ({
  ...set(name, { doubt: it.doubt || doubts }),
  ...(isOpen(it) ? over() : to('committed')),
});

/** The gateway closes what nobody has paid, and is asked again where it did not say so. */
const close = function* (
  { name, it, label, isSpared, to }: Try,
  closed: At,
): Iterable<Step<Order>> {
  if (it.money !== 'none') {
    yield [`gateway.expire: refused, then gateway.verify: captured (${label})`, to('captured')];
    return;
  }
  const done = { ...set(name, { closed: true }), ...to(closed) };
  yield [`gateway.expire: closed (${label})`, done];
  if (!isSpared)
    yield [`lost answer of gateway.expire, then gateway.verify: gone (${label})`, done];
};

/** What the gateway says without taking anything, and where that leads. */
const answerOf = (it: One, isFree: boolean): [answer: string, next: At] => {
  if (it.money === 'captured') return ['captured', 'captured'];
  if (it.money === 'unverified') return ['unverified', isFree ? 'may_take' : 'unverified'];
  if (it.closed || it.money === 'back') return ['gone', it.call_off ? 'beaten' : 'gone'];
  if (!it.call_off) return ['waiting', 'waiting'];
  // A two-step gateway returns what nobody verifies from now on.
  return ['waiting', it.gateway === 'two_step' ? 'beaten' : 'off_waiting'];
};

/** The workflow runs an activity. */
const begin = function* (tried: Try): Iterable<Step<Order>> {
  const { s, name, it, rival, label, isSpared, to, fault } = tried;
  if (hasEnded(it) && !it.known) yield afterFinalized(tried);
  if (!isOpen(it)) return;
  if (!it.opened) {
    if (s.option && keeps(rival) && fault !== 'the opening does not look at the order')
      yield [
        `openPayment, finalize onlyIfUnsent: lost (${label})`,
        set(name, { status: 'lost', at: 'committed' }),
      ];
    else yield [`openPayment reads a free order (${label})`, to('opening')];
  } else if (it.call_off && !keeps(rival))
    yield [`cancelPayment finds the order free (${label})`, set(name, { call_off: false })];
  else if (it.call_off && !it.sent)
    // Nobody has the link of what is open at the gateway.
    yield [
      `cancelPayment, finalize onlyIfUnsent: lost (${label})`,
      set(name, { status: 'lost', call_off: false, at: 'committed' }),
    ];
  else if (it.sent && !it.silent) {
    const read = set(name, { call_off: false, free: !s.option });
    const [answer, next] = answerOf(it, !s.option);
    yield [`gateway.verify: ${answer} (${label})`, { ...read, ...to(next) }];
    if (!isSpared)
      yield [`lost answer of gateway.verify (${label})`, { ...read, ...unanswered(tried) }];
  }
};

/** `mayTake`: the order is claimed before a two-step gateway is told to take the money. */
const claim = ({ name, it, rival, label, to, fault }: Try): Step<Order> => {
  if (!isOpen(it)) return [`orders.claim finds the payment ended (${label})`, to('beaten')];
  if (keeps(rival))
    return [
      `orders.claim finds the order paid (${label})`,
      to(fault === 'a payment loses by what was read before' ? 'beaten_read' : 'beaten'),
    ];
  // The unique index decides between two claims at the same moment.
  if (rival.claim && isOpen(rival) && fault !== 'the order is read, then claimed')
    return [`orders.claim finds the order held (${label})`, to('beaten')];
  return [`orders.claim (${label})`, { ...set(name, { claim: true }), ...to('may_take') }];
};

const take = function* (tried: Try): Iterable<Step<Order>> {
  const { s, name, it, label, isSpared, to } = tried;
  const takes = it.money === 'unverified';
  const isStolen = takes && !it.free && isOpen(it) && !it.claim && !s.restored;
  const taken = {
    ...(takes && set(name, { money: 'captured' })),
    ...(isStolen && { stolen: true }),
  };
  const answer = it.money === 'back' ? 'gone' : 'captured';
  if (it.silent) yield [`gateway.verify: no answer (${label})`, unanswered(tried)];
  else yield [`gateway.verify takes the money: ${answer} (${label})`, { ...taken, ...to(answer) }];
  if (isSpared) return;
  if (!it.silent)
    yield [
      `lost answer of gateway.verify, which takes the money (${label})`,
      { ...taken, ...unanswered(tried) },
    ];
  yield [`lost call of gateway.verify (${label})`, unanswered(tried)];
};

/** What follows from an end. Temporal repeats the activity until it has reported it. */
const afterFinalized = (tried: Try): Step<Order> => {
  const { s, name, it, rival, label, isOld, isDue, to, fault } = tried;
  const done = isOld
    ? to('idle')
    : set(name, { at: 'idle', free: false, known: it.known || !isOpen(it) });
  if (it.status === 'paid') {
    const joins = fault === 'a call-off joins the verification that runs' && rival.at !== 'idle';
    const isNobody = fault === 'the winner calls nobody off' || joins;
    // From its deadline on a payment is asked about anyway.
    if (isDue || !s.option || !isOpen(rival) || isNobody)
      return [`afterFinalized (${label})`, done];
    return [
      `afterFinalized, callOff (${label})`,
      { ...set(other[name], { call_off: true }), ...done },
    ];
  }
  // A retry that finds the payment ended does not know what the try before it has taken.
  const inDoubt = () => it.doubt || (!isOld && it.at === 'idle' && it.retry);
  const isLoser = it.status === 'lost' && fault !== 'nobody looks for the money of the loser';
  const isLate = !isOpen(it) && it.opened && (isLoser || inDoubt());
  return [`afterFinalized (${label})`, { ...(isLate && set(name, { late: true })), ...done }];
};

/** One try of the payment's activities, from its first line to its last. */
export const tryOf = (name: Name, isOld: boolean, bounds: Bounds): Actor<Order> =>
  function* (s): Iterable<Step<Order>> {
    const tried = readTry(s, name, isOld, bounds);
    const { it, at, label, isDue, isSpared, to, over } = tried;
    if (at === 'idle' && !isOld) yield* begin(tried);
    if (at === 'opening')
      yield [`recordOpened (${label})`, { ...set(name, { opened: true }), ...over() }];
    if (at === 'waiting') {
      if (!isDue) yield recordInquiry(tried);
      else if (it.gateway === 'two_step') yield finalize(tried, 'unpaid');
      else yield* close(tried, 'gone');
    }
    if (at === 'off_waiting') yield* close(tried, 'beaten');
    if (at === 'gone') yield finalize(tried, 'unpaid');
    if (at === 'unverified') yield claim(tried);
    if (at === 'may_take') yield* take(tried);
    if (at === 'captured') yield finalize(tried, 'paid');
    const isRead = at === 'refused_paid' || at === 'held';
    if (at === 'beaten' || at === 'beaten_read' || (at === 'refused_paid' && isOpen(it)))
      yield finalize(tried, 'lost');
    // The holder may still fail, so this payment is asked about again.
    if (at === 'held' && isOpen(it)) yield recordInquiry(tried);
    if (at === 'committed' || (isRead && !isOpen(it))) yield afterFinalized(tried);
    // A try that was given up, and that dies after it has taken money, is left out as in the part "end of a payment".
    if (at === 'idle' || isSpared || (isOld && at === 'captured')) return;
    // Temporal repeats the activity.
    const isOff = it.call_off || at === 'off_waiting' || at === 'beaten' || at === 'refused_paid';
    const again = isDue ? { retry: bounds.shape === 'two tries' } : { call_off: isOff };
    yield [
      `crash (${label})`,
      { ...to('idle'), ...(!isOld && set(name, { ...again, free: false })) },
    ];
  };
