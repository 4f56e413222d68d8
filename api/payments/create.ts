import { createHash } from 'node:crypto';
import {
  CreatePayment,
  fieldErrors,
  IdempotencyKey,
  metadataProblems,
  PaymentTerms,
} from '../../contract/create-payment.ts';
import type { FieldError } from '../../contract/errors.ts';
import { newPaymentId } from '../../contract/ids.ts';
import type { JsonNode } from '../../contract/json.ts';
import { canonicalText, valueOf } from '../../contract/json.ts';
import type { Payment } from '../../contract/payment.ts';
import { presentPayment } from '../../contract/payment.ts';
import { findPaymentProblems } from '../../gateways/registry.ts';
import type { ApiMetrics } from '../../telemetry/metrics.ts';
import type { Gateways } from '../../postgres/gateways.ts';
import type { IdempotencyKeys, StoredAnswer } from '../../postgres/idempotency-keys.ts';
import type { Payments } from '../../postgres/payments.ts';
import type { Caller } from '../../postgres/tokens.ts';
import { currentTrace, logContext } from '../../telemetry/log.ts';
import { ownerOf } from '../auth/authentication.ts';
import type { Backlog } from './backlog.ts';
import type { Handler, RequestOf } from '../http/route.ts';
import type { Routes } from '../routes.ts';
import type { Starter } from './starter.ts';

export interface Deps {
  payments: Pick<Payments, 'insert'>;
  idempotencyKeys: Pick<IdempotencyKeys, 'get'>;
  gateways: Pick<Gateways, 'get' | 'sandboxSlugs'>;
  starter: Pick<Starter, 'start'>;
  backlog: Pick<Backlog, 'check'>;
  metrics: Pick<ApiMetrics, 'created'>;
  publicBaseUrl: string;
  now: () => Date;
}

type CreateRequest = RequestOf<Routes['createPayment']>;

const route = 'POST /api/v1/payments';
/** At least 24 hours: this machine's clock may be behind that of Postgres, which lets it expire. */
const keptMs = 25 * 60 * 60 * 1000;

/** Parse, write, answer; the workflow is started behind the answer. */
export const createPaymentCreation = (deps: Deps): Handler<Routes['createPayment']> => {
  const { payments, idempotencyKeys, starter, backlog, metrics, publicBaseUrl, now } = deps;

  const stored = (caller: Caller, key: string): Promise<StoredAnswer | undefined> =>
    idempotencyKeys.get(ownerOf(caller), route, key);

  return async (request) => {
    const { caller } = request;
    const key = idempotencyKeyOf(request);
    const body = await request.readJson();
    const keyed = key === undefined ? undefined : { key, fingerprint: fingerprintOf(body) };

    let payment: Payment;
    try {
      backlog.check();
      payment = await newPayment(deps, request, body);
    } catch (error) {
      // What was right when the key was first used is answered again, whatever has changed since.
      const before = keyed && (await stored(caller, keyed.key));
      if (before) return replay(request, before, keyed.fingerprint);
      throw error;
    }

    const location = `${publicBaseUrl}/api/v1/payments/${payment.id}`;
    const answer = { status: 201, location, body: presentPayment(payment, publicBaseUrl) };
    const expiresAt = new Date(now().getTime() + keptMs);
    const record = keyed ? { route, expiresAt, ...keyed, ...answer } : null;
    // Twice: a key may expire between finding it taken and reading what it answered.
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      if (await payments.insert(payment, record, currentTrace() ?? null)) {
        metrics.created.inc({ gateway: payment.gateway });
        const context = logContext.getStore();
        if (context) context['payment_id'] = payment.id;
        starter.start(payment);
        return { status: 201, body: answer.body, headers: { location } };
      }
      const before = keyed && (await stored(caller, keyed.key));
      if (before) return replay(request, before, keyed.fingerprint);
    }
    throw new Error('The idempotency record was neither free nor taken');
  };
};

const fingerprintOf = (body: JsonNode): Buffer =>
  createHash('sha256').update(canonicalText(body)).digest();

/** @throws PaymentError IDEMPOTENCY_KEY_REUSED */
const replay = (request: CreateRequest, stored: StoredAnswer, fingerprint: Buffer) => {
  if (!stored.fingerprint.equals(fingerprint)) throw request.refuse('IDEMPOTENCY_KEY_REUSED');
  const { location, body } = stored;
  // Only a 201 is ever stored.
  return { status: 201 as const, body, headers: { location, 'idempotent-replayed': 'true' } };
};

/** @throws PaymentError INVALID_IDEMPOTENCY_KEY */
const idempotencyKeyOf = (request: CreateRequest): string | undefined => {
  const key = request.header('idempotency-key');
  if (key === undefined) return undefined;
  // Two keys are no key: joined, they would be a third one, which no retry with either finds again.
  if (request.headerLines('idempotency-key').length > 1)
    throw request.refuse('INVALID_IDEMPOTENCY_KEY', 'The Idempotency-Key must be given once.');
  if (!IdempotencyKey.safeParse(key).success) throw request.refuse('INVALID_IDEMPOTENCY_KEY');
  return key;
};

/** @throws PaymentError VALIDATION_FAILED with everything wrong at once, GATEWAY_NOT_ALLOWED */
const newPayment = async (
  { gateways, now }: Pick<Deps, 'gateways' | 'now'>,
  { caller, refuse }: CreateRequest,
  body: JsonNode,
): Promise<Payment> => {
  const value = valueOf(body);
  const parsed = CreatePayment.safeParse(value);
  const members = body.kind === 'object' ? body.members : new Map<string, JsonNode>();
  const textOf = (name: string) => {
    const member = members.get(name);
    return member?.kind === 'string' ? member.value : undefined;
  };
  const metadata = members.get('metadata');
  const callbackUrl = textOf('callback_url') ?? caller.callbackUrls[0] ?? '';
  const slug = textOf('gateway') ?? caller.defaultGateway.slug;
  const gateway =
    slug === caller.defaultGateway.slug ? caller.defaultGateway : await gateways.get(slug);

  const problems: FieldError[] = [
    ...(parsed.success ? [] : fieldErrors(parsed.error)),
    ...(metadata ? metadataProblems(metadata) : []),
    ...(caller.callbackUrls.includes(callbackUrl) ? [] : [unregisteredCallback]),
  ];
  const isForMode = caller.mode === 'live' || gateway?.kind === 'sandbox';
  if (!gateway) problems.push(unusable('has no gateway of that name in use'));
  // What a gateway would not take says nothing to a token that may not use it at all.
  else if (isForMode) {
    if (!gateway.enabled) problems.push(unusable(`has no gateway ${slug} in use`));
    const terms = parsed.success ? parsed.data : PaymentTerms.safeParse(value).data;
    if (terms)
      problems.push(
        ...findPaymentProblems(gateway.driver, { ...terms, expiresInSeconds: terms.expires_in }),
      );
  }
  if (!parsed.success || !gateway || problems.length > 0)
    throw refuse('VALIDATION_FAILED', 'The body is not valid, see details.fields.', {
      details: { fields: problems },
    });
  if (!isForMode) throw await notAllowed({ gateways }, refuse);

  const createdAt = now();
  const wanted = parsed.data;
  return {
    id: newPaymentId(),
    ...ownerOf(caller),
    orderId: wanted.order_id,
    status: 'pending',
    amount: wanted.amount,
    currency: wanted.currency,
    gateway: gateway.slug,
    description: wanted.description ?? null,
    callbackUrl,
    metadata: metadata?.text ?? '{}',
    trackingCode: null,
    cardPanMasked: null,
    paidAt: null,
    failureCode: null,
    expiresAt: new Date(createdAt.getTime() + wanted.expires_in * 1000),
    createdAt,
    updatedAt: createdAt,
  };
};

const unregisteredCallback: FieldError = {
  path: 'callback_url',
  rule: 'registered',
  message: 'must equal one of the registered callback URLs',
};
const unusable = (message: string): FieldError => ({ path: 'gateway', rule: 'in_use', message });

/** A test token never reaches a live account. */
const notAllowed = async (
  { gateways }: Pick<Deps, 'gateways'>,
  refuse: CreateRequest['refuse'],
): Promise<Error> => {
  const usable = await gateways.sandboxSlugs();
  return refuse(
    'GATEWAY_NOT_ALLOWED',
    usable.length > 0
      ? `A test token may use sandbox gateways only: pass "gateway": ${usable.map((slug) => JSON.stringify(slug)).join(' or ')}.`
      : 'A test token may use sandbox gateways only, and there is none yet: an admin can add one.',
  );
};
