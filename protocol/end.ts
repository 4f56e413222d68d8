import type { Actor, Part, Step, Try } from './part.ts';
import { ofTry } from './part.ts';

type Outcome = 'paid' | 'cancelled' | 'expired';
type Answer = 'waiting' | 'processing' | 'paid' | 'expired' | 'unknown';
/**
 * Where a try stands: after its verification, after a close without a confirmation, after the second answer.
 * `verifyPayment` and `expirePayment` have names of their own for it.
 */
type At =
  | 'idle'
  | 'verified'
  | 'unclosed'
  | 'verified_again'
  | 'asked'
  | 'refused'
  | 'asked_again'
  | 'committed'
  | 'found_ended';

export interface End {
  /** Postgres. `doubt`: a stored verification had no answer, or the answer `processing` or `paid`. */
  status: 'pending' | Outcome;
  events: number;
  checkout: boolean;
  doubt: boolean;
  /** Temporal. `known`: the workflow knows the end. `retry`: an earlier try of the activity broke off. */
  due: 'no' | 'grace' | 'over';
  known: boolean;
  retry: boolean;
  late: boolean;
  /** The notification of captured money: not received yet, or heard by the workflow since its last inquiry began. */
  notice: 'none' | 'due' | 'heard';
  /** The gateway: what it can do, and what it holds. `unverified` goes back unless somebody verifies it. */
  gateway: 'closes' | 'two_step' | 'one_step';
  closed: boolean;
  money: 'none' | 'moving' | 'unverified' | 'captured' | 'back';
  payer: 'away' | 'sent' | 'cancelled';
  told: 'nothing' | 'paid' | 'unpaid';
  /** The try that Temporal waits for, and one that it has given up and that still runs. */
  a_at: At;
  a_saw: Answer | '-';
  b_at: At;
  b_saw: Answer | '-';
  /** A replica that lags, or a backup. */
  old_status: 'pending' | Outcome;
  old_checkout: boolean;
  old_doubt: boolean;
}

export type EndFault =
  | 'no compare-and-set'
  | 'event outside the transaction'
  | 'lost checkout_at taken as never sent'
  | 'nobody looks for late money'
  | 'a retry does not doubt the try before it'
  | 'a recheck is forgotten when the payment ends'
  | 'a recheck joins an inquiry that began before it';

const ended = ({ status }: End): boolean => status !== 'pending';
const idle = { at: 'idle', saw: '-' } as const;

/** What `gateway.verify` answers. It captures unverified money, also if the answer is lost. */
const verify = ({ money, closed }: End): [Answer, Partial<End>] => {
  if (money === 'captured') return ['paid', {}];
  if (money === 'unverified') return ['paid', { money: 'captured' }];
  if (money === 'moving') return ['processing', {}];
  return [closed || money === 'back' ? 'expired' : 'waiting', {}];
};

/** `verifyPayment` before the deadline, `expirePayment` from it on: one try, from its first line to its last. */
const tryOf = (x: Try, fault: EndFault | undefined): Actor<End> =>
  function* (s): Iterable<Step<End>> {
    const at = s[`${x}_at`];
    const saw = s[`${x}_saw`];
    // A try that returns to the workflow; Temporal starts the next one from its first line.
    const idleAgain = { ...ofTry<End>(x, idle), ...(x === 'a' && { retry: false }) };
    const to = (next: At, answer: Answer | '-' = saw) => ofTry<End>(x, { at: next, saw: answer });
    const finalize = function* (outcome: Outcome, doubt: boolean): Iterable<Step<End>> {
      const wins = !ended(s) || fault === 'no compare-and-set';
      // The exchanges are stored by the same statement, also if another try was first.
      const stored = { ...to(wins ? 'committed' : 'found_ended'), doubt: s.doubt || doubt };
      const event = { events: Math.min(s.events + 1, 2) };
      if (!wins) yield [`finalize finds the payment ended (${x})`, stored];
      else if (fault === 'event outside the transaction')
        yield [`finalize ${outcome}, its event follows (${x})`, { ...stored, status: outcome }];
      else yield [`finalize ${outcome} (${x})`, { ...stored, ...event, status: outcome }];
    };
    const ask = function* (next: At): Iterable<Step<End>> {
      const [answer, captured] = verify(s);
      // A new activity of the workflow, not a retry, serves the rechecks before it.
      const serves = at === 'idle' && !s.retry && s.notice === 'heard';
      const effect = { ...captured, ...(serves && { notice: 'none' as const }) };
      yield [`gateway.verify: ${answer} (${x})`, { ...effect, ...to(next, answer) }];
      yield [`lost answer of gateway.verify (${x})`, { ...effect, ...to(next, 'unknown') }];
    };
    const inquired = { doubt: s.doubt || saw !== 'waiting' };
    const record: Step<End> = ended(s)
      ? [`recordInquiry finds the payment ended (${x})`, { ...inquired, ...to('found_ended') }]
      : [`recordInquiry (${x})`, { ...inquired, ...idleAgain }];
    /** An answer that is an outcome ends the payment; any other is recorded. */
    const conclude = function* (): Iterable<Step<End>> {
      if (saw === 'paid') yield* finalize('paid', true);
      else if (saw === 'expired')
        yield* finalize(
          at.startsWith('verified') && s.payer === 'cancelled' ? 'cancelled' : 'expired',
          false,
        );
      else yield record;
    };
    const [unclosed, again] =
      at === 'verified'
        ? (['unclosed', 'verified'] as const)
        : (['refused', 'asked_again'] as const);
    const mustClose =
      (saw === 'waiting' &&
        (at === 'asked' || (s.payer === 'cancelled' && s.gateway === 'closes'))) ||
      (saw === 'processing' && at === 'asked' && s.due === 'over');

    if (at !== 'idle')
      yield [`crash (${x})`, { ...ofTry<End>(x, idle), ...(x === 'a' && { retry: true }) }];
    if (at === 'idle' && x === 'a' && !s.known) {
      if (ended(s)) {
        const doubts = s.retry && fault !== 'a retry does not doubt the try before it';
        const serves = !s.retry && s.notice === 'heard';
        for (const [name, changes] of afterFinalized(
          s,
          'a',
          s.status,
          s.doubt || doubts || serves,
          fault,
        ))
          yield [name, { ...changes, ...(serves && { notice: 'none' }) }];
      } else if (fault === 'lost checkout_at taken as never sent' && !s.checkout && s.due !== 'no')
        yield* finalize('expired', false);
      else yield* ask(s.due === 'no' ? 'verified' : 'asked');
    } else if (at === 'verified' || at === 'asked') {
      if (!mustClose) yield* conclude();
      else if (s.gateway !== 'closes') yield* finalize('expired', saw === 'processing');
      else if (s.money === 'none') {
        yield [`gateway.expire: closed (${x})`, { closed: true, ...to(again, 'expired') }];
        yield [`lost answer of gateway.expire (${x})`, { closed: true, ...to(unclosed) }];
      } else yield [`gateway.expire: refused (${x})`, to(unclosed)];
    } else if (at === 'unclosed') yield* ask('verified_again');
    else if (at === 'refused') yield* ask('asked_again');
    else if (at === 'verified_again' || at === 'asked_again') yield* conclude();
    else if (at === 'committed' && s.events === 0 && fault === 'event outside the transaction')
      yield [`insert the event (${x})`, { events: 1, ...to('committed') }];
    // A try knows the outcome that it has written, and reads one that it has found.
    else if (at === 'committed')
      yield* afterFinalized(s, x, saw === 'paid' ? saw : 'expired', s.doubt, fault);
    else if (at === 'found_ended') yield* afterFinalized(s, x, s.status, s.doubt, fault);
  };

/** The effects of an end. Temporal repeats the activity until it has reported it. */
const afterFinalized = function* (
  s: End,
  x: Try,
  status: End['status'],
  doubt: boolean,
  fault: EndFault | undefined,
): Iterable<Step<End>> {
  const isUnpaid = status !== 'paid' && status !== 'pending';
  const late = s.late || (isUnpaid && doubt && fault !== 'nobody looks for late money');
  const done = { ...ofTry<End>(x, idle), late };
  const name = late && !s.late ? 'recheckLatePayment' : 'afterFinalized';
  if (x === 'b') yield [`${name} (b)`, done];
  else if (status === 'pending')
    yield ['the try finds the payment open again (a)', { ...done, retry: false }];
  else yield [`${name} (a)`, { ...done, known: true, retry: false }];
};

const temporal: Actor<End> = function* (s) {
  if (s.a_at !== 'idle' && s.b_at === 'idle') {
    const [at, saw] = [s.a_at, s.a_saw];
    yield [
      'Temporal gives up the try and retries',
      { b_at: at, b_saw: saw, ...ofTry<End>('a', idle), retry: true },
    ];
  }
  if (s.known && !ended(s)) yield ['healPayments: restart', { known: false }];
  if (s.due === 'no') yield ['deadline', { due: 'grace' }];
  if (s.due === 'grace') yield ['grace is over', { due: 'over' }];
};

const payer: Actor<End> = function* (s) {
  // The API's clock may be late: the deadline does not guard this step, the status does.
  if (s.status === 'pending' && s.payer === 'away')
    yield ['payer: sendToGateway', { checkout: true, payer: 'sent' }];
  if (s.payer === 'sent' && s.gateway !== 'one_step')
    yield ['payer cancels at the gateway and returns', { payer: 'cancelled' }];
  if (s.payer !== 'away' && s.money === 'none' && !s.closed)
    yield ['payer pays', { money: s.gateway === 'two_step' ? 'unverified' : 'moving' }];
  if (s.payer !== 'away' && !s.checkout && !ended(s))
    yield ['payer returns: recordLostCheckout', { checkout: true }];
};

const gateway: Actor<End> = function* (s) {
  if (s.money === 'moving') {
    // Its notification is repeated until we have received it, and not after that.
    yield ['the gateway captures', { money: 'captured', notice: 'due' }];
    yield ['the gateway refuses the money', { money: 'none' }];
  }
  if (s.money === 'unverified') yield ['the gateway returns unverified money', { money: 'back' }];
};

/** The API finds out whether the payment is open before it passes the notification on. */
const api: Actor<End> = function* (s) {
  if (s.notice !== 'due' || s.status === 'paid') return;
  // Also after the end: the API may have found the payment open before it.
  yield ['notification: workflows.recheck', { notice: 'heard' }];
  if (ended(s)) yield ['notification: recheckLatePayment', { notice: 'none', late: true }];
};

/** Once the payment has ended, a recheck that no inquiry has served may mean late money. */
const workflowOf = (fault?: EndFault): Actor<End> =>
  function* (s) {
    if (s.notice !== 'heard') return;
    const isForgotten =
      (fault === 'a recheck is forgotten when the payment ends' && s.known) ||
      (fault === 'a recheck joins an inquiry that began before it' && s.a_at !== 'idle');
    if (isForgotten) yield ['the workflow forgets the recheck', { notice: 'none' }];
    else if (s.known && ended(s) && s.status !== 'paid')
      yield ['verifyPayment: recheckLatePayment', { notice: 'none', late: true }];
  };

const application: Actor<End> = function* (s) {
  if (ended(s) && s.events > 0 && s.told === 'nothing')
    yield ['deliverWebhook', { told: s.status === 'paid' ? 'paid' : 'unpaid' }];
};

/** Stands for the part "late money". */
const lateMoney: Actor<End> = function* (s) {
  if (s.late && ended(s) && s.status !== 'paid' && s.money === 'captured')
    yield ['resolveLatePayment', { money: 'back' }];
};

const restore: Actor<End> = function* (s) {
  const { status, checkout, doubt } = s;
  if (status !== s.old_status || checkout !== s.old_checkout || doubt !== s.old_doubt) {
    yield [
      'replica or backup copies',
      { old_status: status, old_checkout: checkout, old_doubt: doubt },
    ];
    const back = { status: s.old_status, checkout: s.old_checkout, doubt: s.old_doubt };
    yield ['failover or restore', { ...back, events: s.old_status === 'pending' ? 0 : 1 }];
  }
};

const start: Omit<End, 'gateway'> = {
  status: 'pending',
  events: 0,
  checkout: false,
  doubt: false,
  due: 'no',
  known: false,
  retry: false,
  late: false,
  notice: 'none',
  closed: false,
  money: 'none',
  payer: 'away',
  told: 'nothing',
  a_at: 'idle',
  a_saw: '-',
  b_at: 'idle',
  b_saw: '-',
  old_status: 'pending',
  old_checkout: false,
  old_doubt: false,
};

/** The end of a payment that is open at its gateway. `restores` leaves out the try that was given up. */
export const end = ({
  fault,
  restores = false,
}: { fault?: EndFault; restores?: boolean } = {}): Part<End> => ({
  name: restores ? 'end of a payment, with restores' : 'end of a payment',
  starts: (['closes', 'two_step', 'one_step'] as const).map((kind) => ({
    ...start,
    gateway: kind,
  })),
  actors: {
    a: tryOf('a', fault),
    ...(restores ? { restore } : { b: tryOf('b', fault) }),
    temporal: restores
      ? function* (s) {
          for (const step of temporal(s)) if (!step[0].startsWith('Temporal')) yield step;
        }
      : temporal,
    workflow: workflowOf(fault),
    payer,
    gateway,
    api,
    application,
    lateMoney,
  },
  invariants: {
    'a payment has one event, written with its outcome': (s) => s.events === (ended(s) ? 1 : 0),
    'a payment is paid only with captured money': (s) =>
      s.status !== 'paid' || s.money === 'captured',
    'no outcome that the application was told is contradicted': (s) =>
      !ended(s) ||
      s.told === 'nothing' ||
      (s.told === 'paid') === (s.status === 'paid') ||
      // A restore forgets an unpaid end. A gateway that cannot close may hold money then that came after it.
      (restores && s.told === 'unpaid' && s.gateway !== 'closes'),
  },
  goals: {
    'a payment ends while its gateway answers': ended,
    'the application is told of the end': (s) => s.told !== 'nothing',
    'captured money ends as paid or goes back': (s) =>
      ended(s) && (s.money !== 'captured' || s.status === 'paid'),
  },
});
