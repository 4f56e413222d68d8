import { CreatePayment, PaymentTerms } from '../../contract/create-payment.ts';
import type { FieldError } from '../../contract/errors.ts';
import { newPaymentId } from '../../contract/ids.ts';
import type { JsonNode } from '../../contract/json.ts';
import { toPlainValue } from '../../contract/json.ts';
import { metadataProblems } from '../../contract/metadata.ts';
import { blankPayment, type NewPayment, type Payment } from '../../contract/payment-fields.ts';
import { type SandboxPlan, sandboxPlanProblems } from '../../contract/sandbox-plan.ts';
import { findPaymentProblems } from '../../gateways/registry.ts';
import type { Gateway, Gateways } from '../../postgres/gateways.ts';
import type { Caller } from '../../postgres/tokens.ts';
import { ownerOf } from '../http/owned-records.ts';
import type { Refuse } from '../http/route.ts';
import { asFields, fieldErrors, invalidBody } from '../http/validation.ts';

export interface Deps {
  gateways: Pick<Gateways, 'get' | 'sandboxSlugs'>;
  now: () => Date;
}

interface CreateRequest {
  caller: Caller;
  refuse: Refuse<'VALIDATION_FAILED' | 'GATEWAY_NOT_ALLOWED'>;
}

/**
 * Validates the body of a create and makes the payment.
 * @returns also whether at most one payment of its order may be paid
 * @throws PaymentError VALIDATION_FAILED with every problem at once, GATEWAY_NOT_ALLOWED
 */
export const newPayment = async (
  { gateways, now }: Deps,
  { caller, refuse }: CreateRequest,
  sent: JsonNode,
): Promise<{ payment: Payment; plan: SandboxPlan | undefined; isPaidOnce: boolean }> => {
  const body = asFields(CreatePayment, sent);
  const value = toPlainValue(body);
  const parsed = CreatePayment.safeParse(value);
  const members = body.kind === 'object' ? body.members : new Map<string, JsonNode>();
  const metadata = members.get('metadata');
  const callbackUrl = stringIn(members, 'callback_url') ?? caller.callbackUrls[0] ?? '';
  const slug = stringIn(members, 'gateway') ?? caller.defaultGateway.slug;
  const gateway =
    slug === caller.defaultGateway.slug ? caller.defaultGateway : await gateways.get(slug);
  const isAllowed = caller.mode === 'live' || gateway?.kind === 'sandbox';

  const problems: FieldError[] = [
    ...(parsed.success ? [] : fieldErrors(parsed.error)),
    ...(metadata ? metadataProblems(metadata) : []),
    ...(caller.callbackUrls.includes(callbackUrl) ? [] : [unregisteredCallback]),
    ...gatewayProblems(gateway, {
      slug,
      isAllowed,
      // Amounts are checked even if another part of the body is invalid.
      terms: parsed.success ? parsed.data : PaymentTerms.safeParse(value).data,
    }),
    ...(parsed.data?.sandbox && gateway && isAllowed
      ? sandboxPlanProblems(parsed.data.sandbox, {
          expiresIn: parsed.data.expires_in,
          driver: gateway.driver,
        })
      : []),
  ];
  if (!parsed.success || !gateway || problems.length > 0) throw invalidBody(refuse, problems);
  if (!isAllowed) throw refuse('GATEWAY_NOT_ALLOWED', sandboxOnly(await gateways.sandboxSlugs()));

  const createdAt = now();
  const fields = parsed.data;
  const created: NewPayment = {
    id: newPaymentId(),
    ...ownerOf(caller),
    orderId: fields.order_id,
    status: 'pending',
    amount: fields.amount,
    currency: fields.currency,
    gateway: gateway.slug,
    description: fields.description ?? null,
    callbackUrl,
    metadata: metadata?.text ?? '{}',
    expiresAt: new Date(createdAt.getTime() + fields.expires_in * 1000),
    createdAt,
    updatedAt: createdAt,
  };
  return {
    payment: { ...blankPayment, ...created },
    plan: fields.sandbox,
    // Fake money of a live token takes no part.
    isPaidOnce: caller.ordersPaidOnce && (caller.mode === 'test' || gateway.kind === 'live'),
  };
};

const stringIn = (members: ReadonlyMap<string, JsonNode>, name: string): string | undefined => {
  const member = members.get(name);
  return member?.kind === 'string' ? member.value : undefined;
};

const unregisteredCallback: FieldError = {
  path: 'callback_url',
  rule: 'registered',
  message: 'must equal one of the registered callback URLs',
};

const gatewayProblems = (
  gateway: Gateway | undefined,
  { slug, isAllowed, terms }: { slug: string; isAllowed: boolean; terms: PaymentTerms | undefined },
): FieldError[] => {
  if (!gateway) return [unusableGateway('has no gateway of that name in use')];
  // The settings and limits of a gateway are hidden from a token that may not use it.
  if (!isAllowed) return [];
  return [
    ...(gateway.enabled ? [] : [unusableGateway(`has no gateway ${slug} in use`)]),
    ...(terms
      ? findPaymentProblems(gateway.driver, { ...terms, expiresInSeconds: terms.expires_in })
      : []),
  ];
};

const unusableGateway = (message: string): FieldError => ({
  path: 'gateway',
  rule: 'in_use',
  message,
});

/** A test token never uses a live account at a provider. */
const sandboxOnly = (slugs: readonly string[]): string => {
  if (slugs.length === 0)
    return 'A test token may use sandbox gateways only, and there is none yet: an admin can add one.';
  const choice = slugs.map((slug) => JSON.stringify(slug)).join(' or ');
  return `A test token may use sandbox gateways only: pass "gateway": ${choice}.`;
};
