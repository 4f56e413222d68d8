import { type Actor, ofTry, type Part, type Try } from './part.ts';

/** The openings at a gateway: each has its own page, and a payment may be opened twice. */
type Opening = 'none' | 'first' | 'second';

export interface Opened {
  /** Postgres: payments of one idempotency key, and the row of the first. */
  payments: number;
  status: 'pending' | 'ended_unasked' | 'gateway_is_asked';
  outbox: boolean;
  reference: Opening;
  checkout: boolean;
  /** Temporal. */
  workflow: 'none' | 'running' | 'ended';
  due: boolean;
  /** Two creates with the same key, and the API that starts the workflow. */
  request_a: 'sent' | 'saw_no_payment' | 'answered';
  request_b: 'sent' | 'saw_no_payment' | 'answered';
  starter: 'idle' | 'created' | 'started';
  /** Two tries of `openPayment`, the opening that each holds, and the deadline's `expirePayment`. */
  a_at: 'idle' | 'opened' | 'refused';
  a_holds: Opening;
  b_at: 'idle' | 'opened' | 'refused';
  b_holds: Opening;
  expire: 'idle' | 'saw_no_reference';
  /** The gateway, and the page that the payer was sent to. */
  openings: number;
  payer: Opening;
  /** A replica that lags, or a backup. */
  old_reference: Opening;
  old_checkout: boolean;
  failed_over: boolean;
}

export type OpeningFault =
  | 'key checked before the insert'
  | 'outbox row deleted before the start'
  | 'a second opening replaces the first'
  | 'ended although a payer was sent';

const exists = (s: Opened): boolean => s.payments > 0;
const isPending = (s: Opened): boolean => exists(s) && s.status === 'pending';

/** `POST /payments`: the insert decides whether the key is taken. A lost answer is another try with the same key. */
const requestOf = (x: Try, fault?: OpeningFault): Actor<Opened> =>
  function* (s) {
    const at = s[`request_${x}`];
    const to = (next: typeof at): Partial<Opened> => ({ [`request_${x}`]: next });
    const create = {
      payments: s.payments + 1,
      outbox: true,
      starter: 'created',
      ...to('answered'),
    } as const;
    if (at === 'sent' && exists(s))
      yield [`payments.insert finds the key taken (${x})`, to('answered')];
    if (at === 'sent' && !exists(s))
      if (fault === 'key checked before the insert')
        yield [`idempotencyKeys.get finds nothing (${x})`, to('saw_no_payment')];
      else yield [`payments.insert (${x})`, create];
    if (at === 'saw_no_payment') yield [`payments.insert (${x})`, create];
    if (at === 'answered') yield [`lost answer to the application (${x})`, to('sent')];
  };

/** The API starts the workflow after its answer; the sweeper does it for the rows that remain. */
const starting = (fault?: OpeningFault): Actor<Opened> =>
  function* (s) {
    const start = s.workflow === 'none' ? ({ workflow: 'running' } as const) : {};
    const early = fault === 'outbox row deleted before the start';
    if (s.starter === 'created') {
      if (early && s.outbox) yield ['outbox.delete', { outbox: false }];
      else yield ['starter.start', { ...start, starter: early ? 'idle' : 'started' }];
    }
    if (s.starter === 'started') yield ['outbox.delete', { outbox: false, starter: 'idle' }];
    if (s.starter !== 'idle') yield ['crash (api)', { starter: 'idle' }];
    // The row is deleted after the start, and a second start does nothing.
    if (s.outbox && s.workflow === 'none' && !early) yield ['startOutboxWorkflows', start];
    if (s.outbox && s.workflow !== 'none')
      yield ['startOutboxWorkflows: outbox.delete', { outbox: false }];
  };

/** One try of `openPayment`. Its call may open the payment although the answer is lost. */
const openerOf = (x: Try, fault?: OpeningFault): Actor<Opened> =>
  function* (s) {
    const at = s[`${x}_at`];
    const idle = ofTry<Opened>(x, { at: 'idle', holds: 'none' });
    if (
      at === 'idle' &&
      isPending(s) &&
      s.workflow === 'running' &&
      s.reference === 'none' &&
      !s.due
    ) {
      const opening = s.openings === 0 ? 'first' : 'second';
      const openings = Math.min(s.openings + 1, 2);
      yield [
        `gateway.open (${x})`,
        { openings, ...ofTry<Opened>(x, { at: 'opened', holds: opening }) },
      ];
      yield [`lost answer of gateway.open (${x})`, { openings }];
      yield [`gateway.open: refused (${x})`, ofTry<Opened>(x, { at: 'refused' })];
    }
    if (at === 'opened') {
      const records =
        isPending(s) && (s.reference === 'none' || fault === 'a second opening replaces the first');
      yield [`recordOpened (${x})`, { ...idle, ...(records && { reference: s[`${x}_holds`] }) }];
    }
    if (at === 'refused')
      yield [`finalize onlyIfUnsent: failed (${x})`, { ...idle, ...endUnasked(s, fault) }];
    if (at !== 'idle') yield [`crash (${x})`, idle];
  };

/** `finalize` with `onlyIfUnsent`: one statement, so no payer can be sent in between. */
const endUnasked = (s: Opened, fault?: OpeningFault): Partial<Opened> =>
  isPending(s) && (!s.checkout || fault === 'ended although a payer was sent')
    ? { status: 'ended_unasked' }
    : {};

/** `expirePayment`. With a reference the gateway is asked, which is the part "end of a payment". */
const deadline = (fault?: OpeningFault): Actor<Opened> =>
  function* (s) {
    if (exists(s) && !s.due) yield ['deadline', { due: true }];
    if (s.due && isPending(s) && s.workflow === 'running' && s.expire === 'idle')
      if (s.reference === 'none')
        yield ['expirePayment reads no reference', { expire: 'saw_no_reference' }];
      else yield ['expirePayment: gateway.verify', { status: 'gateway_is_asked' }];
    if (s.expire === 'saw_no_reference') {
      yield ['finalize onlyIfUnsent: expired', { expire: 'idle', ...endUnasked(s, fault) }];
      yield ['crash (expirePayment)', { expire: 'idle' }];
    }
    if (s.workflow === 'running') yield ['Temporal loses the workflow', { workflow: 'ended' }];
    if (s.workflow === 'ended' && s.due && isPending(s))
      yield ['healPayments: restart', { workflow: 'running' }];
  };

const payer: Actor<Opened> = function* (s) {
  // The API's clock may be late, so the deadline does not guard this statement.
  if (isPending(s) && s.reference !== 'none' && s.payer === 'none')
    yield ['payer: sendToGateway', { checkout: true, payer: s.reference }];
};

const failover: Actor<Opened> = function* (s) {
  const { reference: old_reference, checkout: old_checkout } = s;
  const differs = old_reference !== s.old_reference || old_checkout !== s.old_checkout;
  if (exists(s) && differs && !s.failed_over) {
    yield ['replica or backup copies', { old_reference, old_checkout }];
    yield [
      'failover or restore',
      { reference: s.old_reference, checkout: s.old_checkout, failed_over: true },
    ];
  }
  if (s.payer !== 'none' && !s.checkout && s.reference !== 'none' && isPending(s))
    yield ['payer returns: recordLostCheckout', { checkout: true }];
};

const start: Opened = {
  payments: 0,
  status: 'pending',
  outbox: false,
  reference: 'none',
  checkout: false,
  workflow: 'none',
  due: false,
  request_a: 'sent',
  request_b: 'sent',
  starter: 'idle',
  a_at: 'idle',
  a_holds: 'none',
  b_at: 'idle',
  b_holds: 'none',
  expire: 'idle',
  openings: 0,
  payer: 'none',
  old_reference: 'none',
  old_checkout: false,
  failed_over: false,
};

/** From the create until the payer is at the gateway, or the payment ends without anybody there. */
export const opening = (fault?: OpeningFault): Part<Opened> => ({
  name: 'opening and checkout',
  starts: [start],
  actors: {
    request_a: requestOf('a', fault),
    request_b: requestOf('b', fault),
    starting: starting(fault),
    a: openerOf('a', fault),
    b: openerOf('b', fault),
    deadline: deadline(fault),
    payer,
    failover,
  },
  invariants: {
    'an idempotency key makes one payment': (s) => s.payments <= 1,
    'a payment has a workflow or an outbox row': (s) =>
      !exists(s) || s.workflow !== 'none' || s.outbox,
    // After a loss in Postgres the alert unknown_reference names the money of a forgotten opening.
    'a payer is sent to the opening that the payment names': (s) =>
      s.payer === 'none' || s.payer === s.reference || s.failed_over,
    'a payment that ends without an inquiry has sent nobody to the gateway': (s) =>
      s.status !== 'ended_unasked' || s.payer === 'none' || s.failed_over,
  },
  goals: {
    'an open payment reaches its deadline and an inquiry, or ends': (s) => s.status !== 'pending',
    'the outbox becomes empty': (s) => exists(s) && !s.outbox,
  },
});
