import { type Actor, ofTry, type Part, type Step, type Try } from './part.ts';

type At = 'idle' | 'verified' | 'refused' | 'asked_again' | 'committed';
type Answer = '-' | 'waiting' | 'processing' | 'paid' | 'expired' | 'unknown';

export interface Cancel {
  /** Postgres. */
  status: 'pending' | 'paid' | 'cancelled';
  events: number;
  checkout: boolean;
  doubt: boolean;
  /** Temporal, and the HTTP response to the application. */
  late: boolean;
  retry: boolean;
  response: 'not_asked' | 'awaited' | 200 | 409 | 502;
  /** The notification of captured money: not received yet, or heard by the workflow. */
  notice: 'none' | 'due' | 'heard';
  /** The gateway. */
  gateway: 'closes' | 'two_step' | 'one_step';
  closed: boolean;
  money: 'none' | 'moving' | 'unverified' | 'captured' | 'back';
  payer: 'away' | 'sent';
  /** The try of `cancelPayment` that Temporal waits for, and one that it has given up. */
  a_at: At;
  a_saw: Answer;
  b_at: At;
  b_saw: Answer;
  lost_checkout: boolean;
}

export type CancelFault =
  | 'cancelled without asking the gateway'
  | 'a refused close counts as closed'
  | 'silence counts as unpaid'
  | 'no compare-and-set'
  | 'a recheck is forgotten when the payment ends';

const ended = ({ status }: Cancel): boolean => status !== 'pending';

const verify = ({ money, closed }: Cancel): [Answer, Partial<Cancel>] => {
  if (money === 'captured') return ['paid', {}];
  if (money === 'unverified') return ['paid', { money: 'captured' }];
  if (money === 'moving') return ['processing', {}];
  return [closed || money === 'back' ? 'expired' : 'waiting', {}];
};

/** `cancelPayment`, one try. Only an application asks for it, and the workflow runs no verification beside it. */
const tryOf = (x: Try, fault?: CancelFault): Actor<Cancel> =>
  function* (s): Iterable<Step<Cancel>> {
    const [at, saw] = [s[`${x}_at`], s[`${x}_saw`]];
    const to = (next: At, answer: Answer = saw): Partial<Cancel> =>
      ofTry(x, { at: next, saw: answer });
    const respond = (response: Cancel['response']): Partial<Cancel> => ({
      ...to('idle', '-'),
      ...(x === 'a' && { response, retry: false }),
    });
    const finalize = function* (
      status: 'paid' | 'cancelled',
      doubt: boolean,
    ): Iterable<Step<Cancel>> {
      const stored = { ...to('committed'), doubt: s.doubt || doubt };
      if (ended(s) && fault !== 'no compare-and-set')
        yield [`finalize finds the payment ended (${x})`, stored];
      else
        yield [
          `finalize ${status} (${x})`,
          { ...stored, status, events: Math.min(s.events + 1, 2) },
        ];
    };
    const ask = function* (next: At): Iterable<Step<Cancel>> {
      const [answer, effect] = verify(s);
      yield [`gateway.verify: ${answer} (${x})`, { ...effect, ...to(next, answer) }];
      yield [`lost answer of gateway.verify (${x})`, { ...effect, ...to(next, 'unknown') }];
    };
    const record = (response: 409 | 502, doubt: Partial<Cancel>): Step<Cancel> =>
      ended(s)
        ? [`recordInquiry finds the payment ended (${x})`, { ...doubt, ...to('committed') }]
        : [`recordInquiry (${x})`, { ...doubt, ...respond(response) }];
    const conclude = function* (): Iterable<Step<Cancel>> {
      if (saw === 'paid') yield* finalize('paid', true);
      else if (saw === 'expired' || (saw === 'unknown' && fault === 'silence counts as unpaid'))
        yield* finalize('cancelled', false);
      else yield record(saw === 'unknown' ? 502 : 409, { doubt: true });
    };

    if (at === 'idle' && x === 'a' && s.response === 'awaited') {
      if (ended(s)) yield* afterFinalized(s, s.doubt || s.retry);
      // One statement: nobody was sent, so nobody has the link of what is open at the gateway. Only a first
      // try may: an earlier one may have captured money, and a failover may have lost the checkout since.
      else if ((!s.checkout && !s.retry) || fault === 'cancelled without asking the gateway')
        yield* finalize('cancelled', false);
      else yield* ask('verified');
    }
    if (at === 'verified') {
      if (saw !== 'waiting') yield* conclude();
      // A two-step gateway returns what nobody verifies from now on.
      else if (s.gateway === 'two_step') yield* finalize('cancelled', false);
      else if (s.gateway === 'one_step') yield record(409, {});
      else if (s.money === 'none') {
        yield [`gateway.expire: closed (${x})`, { closed: true, ...to('verified', 'expired') }];
        yield [`lost answer of gateway.expire (${x})`, { closed: true, ...to('refused') }];
      } else
        yield [
          `gateway.expire: refused (${x})`,
          fault === 'a refused close counts as closed' ? to('verified', 'expired') : to('refused'),
        ];
    }
    if (at === 'refused') yield* ask('asked_again');
    // Paid after all, or ended. What is still open is left as it is.
    if (at === 'asked_again') {
      if (saw === 'waiting') yield record(502, {});
      else yield* conclude();
    }
    if (at === 'committed' && x === 'a') yield* afterFinalized(s, s.doubt);
    if (at === 'committed' && x === 'b')
      yield [
        'recheckLatePayment (b)',
        { ...to('idle', '-'), late: s.late || (s.doubt && s.status === 'cancelled') },
      ];
    if (at !== 'idle')
      yield [`crash (${x})`, { ...to('idle', '-'), ...(x === 'a' && { retry: true }) }];
  };

const afterFinalized = function* (s: Cancel, doubt: boolean): Iterable<Step<Cancel>> {
  const late = s.late || (doubt && s.status === 'cancelled');
  const response = s.status === 'cancelled' ? 200 : 409;
  yield [
    `afterFinalized: ${response} (a)`,
    { ...ofTry<Cancel>('a', { at: 'idle', saw: '-' }), late, response, retry: false },
  ];
};

const temporal: Actor<Cancel> = function* (s) {
  if (s.a_at !== 'idle' && s.b_at === 'idle')
    yield [
      'Temporal gives up the try and retries',
      {
        ...ofTry<Cancel>('b', { at: s.a_at, saw: s.a_saw }),
        ...ofTry<Cancel>('a', { at: 'idle', saw: '-' }),
        retry: true,
      },
    ];
};

/** A cancel without an end leaves the workflow waiting. Its deadline finds what a given up try has done. */
const deadline: Actor<Cancel> = function* (s) {
  const isUnaware = s.response === 409 || s.response === 502;
  if (isUnaware && s.status === 'cancelled' && s.doubt && !s.late)
    yield ['expirePayment: recheckLatePayment', { late: true }];
};

/** A cancel serves no recheck: it may end the payment without an inquiry. */
const workflowOf = (fault?: CancelFault): Actor<Cancel> =>
  function* (s) {
    if (s.notice !== 'heard' || s.status !== 'cancelled' || s.response === 'awaited') return;
    if (fault === 'a recheck is forgotten when the payment ends')
      yield ['the workflow forgets the recheck', { notice: 'none' }];
    else yield ['verifyPayment: recheckLatePayment', { notice: 'none', late: true }];
  };

const application: Actor<Cancel> = function* (s) {
  if (s.response === 'not_asked' || s.response === 502)
    yield ['application: POST cancel', { response: 'awaited' }];
};

const payerAndGateway: Actor<Cancel> = function* (s) {
  if (s.status === 'pending' && s.payer === 'away')
    yield ['payer: sendToGateway', { checkout: true, payer: 'sent' }];
  if (s.payer === 'sent' && s.money === 'none' && !s.closed)
    yield ['payer pays', { money: s.gateway === 'two_step' ? 'unverified' : 'moving' }];
  if (s.money === 'moving') {
    yield ['the gateway captures', { money: 'captured', notice: 'due' }];
    yield ['the gateway refuses the money', { money: 'none' }];
  }
  if (s.money === 'unverified') yield ['the gateway returns unverified money', { money: 'back' }];
  if (s.notice === 'due' && s.status !== 'paid') {
    // Also after the end: the API may have found the payment open before it.
    yield ['notification: workflows.recheck', { notice: 'heard' }];
    if (s.status === 'cancelled')
      yield ['notification: recheckLatePayment', { notice: 'none', late: true }];
  }
  if (s.late && s.money === 'captured' && s.status === 'cancelled')
    yield ['resolveLatePayment', { money: 'back' }];
  if (s.checkout && !s.lost_checkout && s.status === 'pending')
    yield ['failover loses checkout_at', { checkout: false, lost_checkout: true }];
};

const start: Omit<Cancel, 'gateway'> = {
  status: 'pending',
  events: 0,
  checkout: false,
  doubt: false,
  late: false,
  retry: false,
  response: 'not_asked',
  notice: 'none',
  closed: false,
  money: 'none',
  payer: 'away',
  a_at: 'idle',
  a_saw: '-',
  b_at: 'idle',
  b_saw: '-',
  lost_checkout: false,
};

/** An application or an admin cancels a payment. */
export const cancel = (fault?: CancelFault): Part<Cancel> => ({
  name: 'cancel',
  starts: (['closes', 'two_step', 'one_step'] as const).map((gateway) => ({ ...start, gateway })),
  actors: {
    a: tryOf('a', fault),
    b: tryOf('b', fault),
    temporal,
    deadline,
    workflow: workflowOf(fault),
    application,
    payerAndGateway,
  },
  invariants: {
    'a payment has one event, written with its outcome': (s) => s.events === (ended(s) ? 1 : 0),
    'a payment whose cancel was answered with 200 is cancelled': (s) =>
      s.response !== 200 || s.status === 'cancelled',
    'a payment is paid only with captured money': (s) =>
      s.status !== 'paid' || s.money === 'captured',
    'nobody pays a cancelled payment at a gateway that closes payments': (s) =>
      s.status !== 'cancelled' || s.gateway !== 'closes' || s.lost_checkout || s.money === 'none',
    'a one-step gateway that cannot close keeps its payments': (s) =>
      s.status !== 'cancelled' || s.gateway !== 'one_step' || s.payer === 'away' || s.lost_checkout,
  },
  goals: {
    'a cancel is answered': (s) => s.response !== 'awaited',
    'captured money of a cancelled payment goes back': (s) =>
      s.status !== 'cancelled' || s.money !== 'captured',
  },
});
