import { z } from 'zod';
import { amountBounds, currencyExponents } from '../contract/money.ts';
import type { DisputeStatus, KnownDispute } from '../contract/dispute.ts';
import type { SandboxDispute } from '../contract/sandbox-plan.ts';
import type { SandboxPayment, SandboxPayments } from '../postgres/sandbox/payments.ts';
import type { SandboxRefund, SandboxRefunds } from '../postgres/sandbox/refunds.ts';
import { AccountProblem, GatewayUnavailable } from './errors.ts';
import type { GatewayAdapter, GatewayStatus, KnownRefund, Tools } from './gateway.ts';
import { defineDriver } from './gateway.ts';

export interface Deps {
  sandboxPayments: Pick<SandboxPayments, 'open' | 'verify' | 'get' | 'getDispute' | 'expire'>;
  sandboxRefunds: Pick<SandboxRefunds, 'tell' | 'list' | 'listBook'>;
  publicBaseUrl: string;
}

export type SandboxTools = Tools & Deps;

export const sandbox = defineDriver({
  capabilities: {
    currencies: new Map(
      [...currencyExponents].map(([code, wireExponent]) => [
        code,
        { wireExponent, ...amountBounds, step: 1 },
      ]),
    ),
    expirySeconds: { min: 60, max: 86_400 },
    twoStepVerify: true,
    returnTime: { minutes: 30 },
    reportsFees: false,
    reportsReversals: false,
    reversal: null,
    refund: {
      partial: true,
      several: 'parallel',
      least: 1,
      windowMs: null,
      keyed: true,
      credentials: null,
    },
  },
  credentials: z.strictObject({}),
  connect({ kind }, tools: SandboxTools): GatewayAdapter {
    if (kind !== 'sandbox')
      throw new AccountProblem('The sandbox driver moves no real money, so it cannot be live');
    return createSandboxGateway(tools);
  },
});

/** The built-in gateway: a two-step provider with our own page and without real money. */
const createSandboxGateway = ({
  sandboxPayments,
  sandboxRefunds,
  publicBaseUrl,
}: Deps): GatewayAdapter => ({
  async open({ id, amount, currency, returnUrl }) {
    const opened = await sandboxPayments.open({ paymentId: id, amount, currency, returnUrl });
    const url = `${publicBaseUrl}/api/v1/sandbox/${id}`;
    return { result: 'opened', ...opened, redirect: { method: 'GET', url } };
  },
  async verify({ reference }, mayTake) {
    if (mayTake) {
      const found = answered(await sandboxPayments.get(reference));
      if (found?.state === 'open') return toStatus(found);
      if (found?.state === 'paid' && !(await mayTake())) return { state: 'unconfirmed' };
    }
    const payment = answered(await sandboxPayments.verify(reference));
    if (payment?.isLost) throw new GatewayUnavailable('A test asked for a lost confirmation');
    return toStatus(payment);
  },
  async inquire({ reference }) {
    const payment = answered(await sandboxPayments.get(reference));
    // Money that comes after the end is never verified, so it goes back.
    const isLate = payment?.state === 'expired' && payment.paysLate;
    return payment?.state === 'paid' || isLate ? { state: 'processing' } : toStatus(payment);
  },
  expire({ reference }) {
    return sandboxPayments.expire(reference);
  },
  async refund({ reference }, refund) {
    const answer = await sandboxRefunds.tell(reference, refund);
    switch (answer.result) {
      case 'accepted':
        return { result: 'accepted', refund: toKnown(answer.refund) };
      case 'refused':
        return { ...answer, code: answer.failureCode, message: 'Refused by the sandbox' };
      case 'lost':
        throw new GatewayUnavailable('A test asked for a refund without an answer');
    }
  },
  async refunds({ reference }) {
    return (await sandboxRefunds.list(reference)).map(toKnown);
  },
  async disputes({ reference }) {
    const dispute = await sandboxPayments.getDispute(reference);
    if (!dispute) return [];
    const { end, isOpen, endsAt, ...facts } = dispute;
    const known: KnownDispute = {
      ...facts,
      gatewayReference: `DSP${reference}`,
      stage: end === 'inquiry_closed' ? 'inquiry' : 'chargeback',
      status: isOpen ? 'needs_response' : disputeEnds[end],
      reason: 'fraudulent',
      networkReason: null,
      respondBy: isOpen ? endsAt : null,
      changesAt: isOpen ? endsAt : null,
    };
    return [known];
  },
  async book(period, after) {
    const [time = '', last = ''] = after?.split(' ') ?? [];
    const position = { at: time === '' ? period.from : new Date(time), id: last };
    const entries = await sandboxRefunds.listBook(period, position, bookPage);
    const end = entries.at(-1);
    return {
      lines: entries.map(({ id, source, kind, at, amount, currency }) => ({
        ...{ id, source, at, kind, type: kind, category: null },
        ...{ amount, fee: 0, currency, availableOn: at, payout: null },
      })),
      entries: entries.map(({ paymentReference, ...entry }) => ({
        ...entry,
        fee: null,
        payment: { reference: paymentReference, trackingCode: null, id: null },
      })),
      next: end && entries.length === bookPage ? `${end.at.toISOString()} ${end.id}` : null,
    };
  },
});

const disputeEnds: Record<SandboxDispute, DisputeStatus> = {
  dispute_won: 'won',
  dispute_lost: 'lost',
  inquiry_closed: 'closed',
};

const bookPage = 500;

const toKnown = ({ endsAt, acceptedAt, ...refund }: SandboxRefund): KnownRefund => ({
  ...refund,
  code: refund.failureCode,
  message: null,
  bankReference: null,
  expectedAt: endsAt,
  createdAt: acceptedAt,
});

const answered = (payment: SandboxPayment | undefined): SandboxPayment | undefined => {
  if (payment?.isSilent) throw new GatewayUnavailable('A test asked for a gateway that is silent');
  return payment;
};

const toStatus = (payment: SandboxPayment | undefined): GatewayStatus => {
  if (!payment) throw new GatewayUnavailable('The sandbox gateway does not have this payment');
  const { amount, currency, trackingCode, cardPanMasked } = payment;
  switch (payment.state) {
    case 'paid':
    case 'verified':
      return { state: 'paid', amount, currency, trackingCode, cardPanMasked };
    case 'refused':
      return {
        state: 'failed',
        failureCode: payment.refusal ?? 'unknown',
        code: payment.refusal,
        message: 'Refused on the sandbox page',
      };
    case 'open':
      return { state: 'waiting' };
    case 'cancelled':
    case 'expired':
      return { state: payment.state };
  }
};
