import {
  type Bounds,
  hasEnded,
  isGone,
  isOpen,
  keeps,
  type Name,
  names,
  of,
  type One,
  type Order,
  type OrderFault,
  type OrderShape,
  other,
  set,
  tryOf,
} from './order-try.ts';
import type { Actor, Part } from './part.ts';

export type { Order, OrderShape };

/** `POST /payments`: the insert looks at the order, as its snapshot shows it, and others see the row when it commits. */
const create = (name: Name): Actor<Order> =>
  function* (s) {
    const { status } = of(s, name);
    if (status === 'none')
      yield s.option && keeps(of(s, other[name]))
        ? [`application: payments.insert refuses, 409 (${name})`, set(name, { status: 'refused' })]
        : [
            `application: payments.insert finds a free order (${name})`,
            set(name, { status: 'inserting' }),
          ];
    if (status === 'inserting')
      yield [`payments.insert commits (${name})`, set(name, { status: 'open' })];
  };

/** Whoever wants the order takes over a day-old claim of an open payment, and an admin a younger one. No call runs any more. */
const takeOver = ({ fault }: Bounds): Actor<Order> =>
  function* (s) {
    if (fault === 'a claim is never taken over') return;
    for (const name of names) {
      const [it, rival] = [of(s, name), of(s, other[name])];
      if (!it.claim || !isOpen(it) || !isOpen(rival)) continue;
      const isCalling = it.at === 'may_take' || (name === 'one' && s.one_old_at === 'may_take');
      if (isCalling && fault !== 'a claim is taken over before its call is over') continue;
      const isWanted =
        rival.money === 'unverified' ||
        (rival.money === 'captured' && fault !== 'captured money takes over no claim');
      if (isWanted)
        yield [`orders.release: the claim is old (${name})`, set(name, { claim: false })];
    }
  };

const temporal: Actor<Order> = function* (s) {
  if (s.one_at !== 'idle' && s.one_old_at === 'idle')
    yield [
      'Temporal gives up the try and retries (one)',
      { one_old_at: s.one_at, one_at: 'idle', one_retry: true },
    ];
};

const payers: Actor<Order> = function* (s) {
  for (const name of names) {
    const it = of(s, name);
    if (isOpen(it) && it.opened && !it.sent)
      yield [`payer: sendToGateway (${name})`, set(name, { sent: true })];
    if (it.sent && it.money === 'none' && !it.closed)
      yield [
        `payer pays (${name})`,
        set(name, { money: it.gateway === 'two_step' ? 'unverified' : 'captured' }),
      ];
  }
};

const gateways = ({ shape }: Bounds): Actor<Order> =>
  function* (s) {
    for (const name of names) {
      const it = of(s, name);
      // A patient gateway in the shape `silence`: the other payment must not have to wait for its own money to go home.
      const goesHome =
        shape === 'silence'
          ? 'bank: unverified money goes home'
          : 'the gateway returns unverified money';
      if (it.money === 'unverified') yield [`${goesHome} (${name})`, set(name, { money: 'back' })];
      if (it.money === 'captured' && hasEnded(it) && it.status !== 'paid' && !it.silent) {
        // Stands for the part "late money".
        if (it.late) yield [`resolveLatePayment (${name})`, set(name, { money: 'back' })];
        else if (it.gateway === 'one_step')
          yield [`notification: recheckLatePayment (${name})`, set(name, { late: true })];
      }
    }
    // While it closes a payment, it answers.
    if (shape === 'silence' && !s.one_silent && s.one_at !== 'waiting')
      yield ['lost for ever: the gateway never answers again (one)', { one_silent: true }];
  };

const people = ({ fault, shape }: Bounds): Actor<Order> =>
  function* (s) {
    for (const name of names) {
      const it = of(s, name);
      // What the bank sends back after a call-off adds nothing: it claims nothing.
      if (it.status !== 'paid') continue;
      const gone = (how: 'refunded' | 'lost', keeping: OrderFault) =>
        set(name, { gone: how, ...(fault !== keeping && { claim: false }) });
      if (it.gone === 'no')
        yield [
          `application refunds the whole amount, finishRefund (${name})`,
          gone('refunded', 'a whole refund keeps the claim'),
        ];
      if (shape !== 'life') continue;
      if (it.gone === 'no')
        yield [
          `bank: a chargeback of the whole amount is lost, recordLook (${name})`,
          gone('lost', 'a lost chargeback keeps the claim'),
        ];
      // `refund_returned` or `duplicate_payment` alerts a person. The order stays with whoever has it now.
      const claims = fault === 'a returned refund claims again' && { claim: true };
      const returned = set(name, { gone: 'returned', ...claims });
      if (it.gone === 'refunded')
        yield [`bank sends the refund back, finishRefund (${name})`, returned];
      if (it.gone === 'lost')
        yield [`bank: the lost chargeback is won after all, recordLook (${name})`, returned];
    }
    if (!s.option) yield ['admin switches the option on', { option: true }];
  };

const restore: Actor<Order> = function* (s) {
  if (s.restored) return;
  const copyOf = (name: Name) => {
    const { status, claim } = of(s, name);
    return set(name, { old_status: status, old_claim: claim });
  };
  // `healPayments` starts the workflows of open payments again.
  const back = (name: Name) => {
    const { old_status, old_claim } = of(s, name);
    return set(name, { status: old_status, claim: old_claim, known: false });
  };
  const isNew = !isOpen(of(s, 'one')) || !isOpen(of(s, 'two')) || s.one_claim || s.two_claim;
  if (isNew && !s.copied)
    yield ['backup copies', { ...copyOf('one'), ...copyOf('two'), copied: true }];
  if (s.copied || isNew)
    yield ['restore', { restored: true, copied: true, ...back('one'), ...back('two') }];
};

const start: One = {
  status: 'open',
  opened: true,
  sent: true,
  claim: false,
  paid_while: '-',
  doubt: false,
  gone: 'no',
  retry: false,
  call_off: false,
  known: false,
  late: false,
  gateway: 'two_step',
  silent: false,
  closed: false,
  money: 'none',
  at: 'idle',
  free: false,
  old_status: 'open',
  old_claim: false,
};

const kinds = [
  ['two_step', 'two_step'],
  ['two_step', 'one_step'],
  ['one_step', 'two_step'],
  ['one_step', 'one_step'],
] as const;

/** The larger shapes leave out what the others cover, and where the payments act alike one order of their gateways is enough. */
const kindsOf = (shape: OrderShape) => {
  if (shape === 'two tries') return kinds.slice(1, 3);
  if (shape === 'restores') return kinds.slice(0, 2);
  return shape === 'life' ? kinds.filter((_, at) => at !== 2) : kinds;
};

const startsOf = (shape: OrderShape): Order[] =>
  kindsOf(shape).flatMap(([one, two]) => {
    const created = { status: 'none', opened: false, sent: false } as const;
    const both = {
      ...set('one', { ...start, gateway: one }),
      ...set('two', { ...start, gateway: two, ...(shape === 'calls off' && created) }),
      ...{ one_old_at: 'idle', stolen: false, copied: false, restored: false },
    };
    const options = shape === 'life' ? [true, false] : [true];
    return options.map((option) => ({ ...both, option }) as Order);
  });

const each = (s: Order, holds: (it: One, rival: One) => boolean): boolean =>
  names.every((name) => holds(of(s, name), of(s, other[name])));

/** Two payments of an order whose application wants one of them to be paid. */
export const order = ({ fault, shape = 'life' }: Bounds = {}): Part<Order> => ({
  name: `one paid payment for an order, ${shape}`,
  starts: startsOf(shape),
  actors: {
    ...(shape === 'calls off' && { create: create('two') }),
    one: tryOf('one', false, { fault, shape }),
    two: tryOf('two', false, { fault, shape }),
    ...(shape === 'two tries' && { old: tryOf('one', true, { fault, shape }), temporal }),
    ...(shape !== 'life' && shape !== 'calls off' && { takeOver: takeOver({ fault }) }),
    ...(shape === 'restores' && { restore }),
    payers,
    gateways: gateways({ shape }),
    ...((shape === 'life' || shape === 'calls off') && { people: people({ fault, shape }) }),
  },
  invariants: {
    'an order is held by one payment': (s) => !s.one_claim || !s.two_claim,
    // Both may be paid if the first one was before the option. Money that the bank sends back alerts a person.
    'of the payments of an order at most one is paid and has its money': (s) =>
      !each(s, keeps) ||
      each(s, (it) => it.paid_while === 'off') ||
      !each(s, (it) => it.gone !== 'returned'),
    'a paid payment holds its order until its money has gone back': (s) =>
      each(
        s,
        (it) => it.status !== 'paid' || it.claim || it.paid_while === 'off' || it.gone !== 'no',
      ),
    'whoever has ended without being paid holds nothing': (s) =>
      each(s, (it) => !it.claim || (it.status !== 'lost' && it.status !== 'unpaid')),
    'whose money has gone back in full holds nothing': (s) =>
      each(s, (it) => !isGone(it) || !it.claim),
    'a payment loses only to one that is paid': (s) =>
      each(s, (it, rival) => it.status !== 'lost' || rival.status === 'paid'),
    'a payment is paid only with captured money': (s) =>
      each(s, (it) => it.status !== 'paid' || it.money === 'captured'),
    // An end by a given up try may free the order while a newer one takes the money: that money is late.
    'two-step gateways take money only of the open payment that holds the order': (s) => !s.stolen,
  },
  goals: {
    'a payment ends while its gateway answers': (s) =>
      shape === 'calls off' || each(s, (it) => it.silent || !isOpen(it)),
    'captured money ends as paid or goes back': (s) =>
      each(s, (it) => it.silent || it.money !== 'captured' || it.status === 'paid'),
    'money of a payment waits for no claim for ever': (s) =>
      each(
        s,
        (it, rival) =>
          !isOpen(it) || it.money !== 'unverified' || it.claim || it.silent || keeps(rival),
      ),
    // A call-off is a courtesy: where the gateway does not answer it, the payment waits for its deadline.
    'an open payment of a paid order is called off before its deadline': (s) =>
      shape !== 'calls off' || each(s, (it, rival) => !isOpen(it) || !keeps(rival) || it.doubt),
  },
});
