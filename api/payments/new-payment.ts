import { CreatePayment, NamedGateways, PaymentTerms } from '../../contract/create-payment.ts';
import type { FieldError } from '../../contract/errors.ts';
import { newPaymentId } from '../../contract/ids.ts';
import type { JsonNode } from '../../contract/json.ts';
import { toPlainValue } from '../../contract/json.ts';
import { metadataProblems } from '../../contract/metadata.ts';
import { type Payer, readSentPayer } from '../../contract/payer.ts';
import { blankPayment, type NewPayment, type Payment } from '../../contract/payment-fields.ts';
import {
  type SandboxPlan,
  sandboxPlanElsewhere,
  sandboxPlanProblems,
} from '../../contract/sandbox-plan.ts';
import { findPaymentProblems } from '../../gateways/registry.ts';
import {
  type Gateway,
  type Gateways,
  type GatewayUser,
  sandboxAccount,
} from '../../postgres/gateways/gateways.ts';
import type { Caller } from '../../postgres/applications/tokens.ts';
import { ownerOf } from '../http/owned-records.ts';
import type { Refuse } from '../http/route.ts';
import { asFields, fieldErrors, invalidBody } from '../http/validation.ts';

export interface Deps {
  gateways: Pick<Gateways, 'listNamed' | 'sandboxSlugs'>;
  now: () => Date;
}

export interface Created {
  payment: Payment;
  candidates: string[] | null;
  plan: SandboxPlan | undefined;
  payer: Payer | undefined;
  /** The fields of the payer that nobody can use. */
  payerIgnored: string[];
  isPaidOnce: boolean;
}

/** The application and mode whose payment it is. */
export type PaymentCaller = Pick<
  Caller,
  | 'application'
  | 'mode'
  | 'callbackUrls'
  | 'ordersPaidOnce'
  | 'defaultGateway'
  | 'fallbackGateways'
  | 'allowedGateways'
>;

/** As {@link Gateways} asks who may use a gateway. */
export const gatewayUserOf = ({
  mode,
  defaultGateway,
  fallbackGateways,
  allowedGateways,
}: Omit<PaymentCaller, 'application'>): GatewayUser => ({
  slugs: [defaultGateway.slug, ...fallbackGateways, ...allowedGateways],
  mode,
});

/** @typeParam Left what its caller leaves out */
export interface CreateRequest<Left extends keyof PaymentCaller = never> {
  caller: Omit<PaymentCaller, Left>;
  refuse: Refuse<'VALIDATION_FAILED' | 'GATEWAY_NOT_ALLOWED'>;
}

/**
 * Validates the body of a create and makes the payment.
 * @returns also the gateways that may open it, if there are several, and whether at most one payment of its order may be paid
 * @throws PaymentError VALIDATION_FAILED with every problem at once, GATEWAY_NOT_ALLOWED
 */
export const newPayment = async (
  { gateways, now }: Deps,
  { caller, refuse }: CreateRequest,
  sent: JsonNode,
): Promise<Created> => {
  const body = asFields(CreatePayment, sent);
  const value = toPlainValue(body);
  const parsed = CreatePayment.safeParse(value);
  const members = body.kind === 'object' ? body.members : new Map<string, JsonNode>();
  const metadata = members.get('metadata');
  const callbackUrl = stringIn(members, 'callback_url') ?? caller.callbackUrls[0] ?? '';
  const choice = choiceOf(value, members, caller);
  const found = await findGateways(gateways, choice.slugs, caller);
  const isAllowed = caller.mode === 'live' || found.every(({ kind }) => kind === 'sandbox');
  const { usable, problems: gatewayProblems } = selectUsable(found, {
    choice,
    isAllowed,
    // Amounts are checked even if another part of the body is invalid.
    terms: parsed.success ? parsed.data : PaymentTerms.safeParse(value).data,
    plan: parsed.data?.sandbox,
  });
  const [gateway] = usable;

  const problems: FieldError[] = [
    ...(parsed.success ? [] : fieldErrors(parsed.error)),
    ...(metadata ? metadataProblems(metadata) : []),
    ...(caller.callbackUrls.includes(callbackUrl) ? [] : [unregisteredCallback]),
    ...gatewayProblems,
    ...(parsed.data?.sandbox && gateway && isAllowed
      ? sandboxPlanProblems(parsed.data.sandbox, { expiresIn: parsed.data.expires_in })
      : []),
  ];
  if (!parsed.success || !gateway || problems.length > 0) throw invalidBody(refuse, problems);
  if (!isAllowed)
    throw refuse(
      'GATEWAY_NOT_ALLOWED',
      sandboxOnly(await gateways.sandboxSlugs(gatewayUserOf(caller))),
    );

  const createdAt = now();
  const fields = parsed.data;
  const { payer, ignored: payerIgnored } = readSentPayer(fields.payer);
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
    linkId: null,
    expiresAt: new Date(createdAt.getTime() + fields.expires_in * 1000),
    createdAt,
    updatedAt: createdAt,
  };
  return {
    payment: { ...blankPayment, ...created },
    candidates: usable.length > 1 ? usable.map(({ slug }) => slug) : null,
    plan: fields.sandbox,
    payer,
    payerIgnored,
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

/** The gateways that a create names, or that its application has, in the order of asking. */
interface Choice {
  slugs: readonly string[];
  /** The field that names them. */
  path: 'gateway' | 'gateways';
  isTwice: boolean;
}

const choiceOf = (
  value: unknown,
  members: ReadonlyMap<string, JsonNode>,
  { defaultGateway, fallbackGateways }: PaymentCaller,
): Choice => {
  const isTwice = members.has('gateway') && members.has('gateways');
  if (members.has('gateways')) {
    // A fault of the list itself is reported with the rest of the body.
    const { data } = NamedGateways.safeParse(value);
    return { slugs: data?.gateways ?? [], path: 'gateways', isTwice };
  }
  const pinned = stringIn(members, 'gateway');
  const slugs = pinned === undefined ? [defaultGateway.slug, ...fallbackGateways] : [pinned];
  return { slugs, path: 'gateway', isTwice };
};

/** The gateways that the application may use, in their order. Authentication has read its own. */
const findGateways = async (
  gateways: Pick<Gateways, 'listNamed'>,
  slugs: readonly string[],
  caller: PaymentCaller,
): Promise<Gateway[]> => {
  if (slugs.length === 0) return [];
  const { defaultGateway } = caller;
  const isOwn = slugs.length === 1 && slugs[0] === defaultGateway.slug;
  return isOwn ? [defaultGateway] : gateways.listNamed(slugs, gatewayUserOf(caller));
};

/** The gateways that take the payment. Without one, the problems are those of each. */
const selectUsable = (
  found: readonly Gateway[],
  { choice, isAllowed, terms, plan }: Selection,
): { usable: readonly Gateway[]; problems: readonly FieldError[] } => {
  const slugs = new Set(found.map(({ slug }) => slug));
  const wrong = [
    ...(choice.isTwice ? [namedTwice] : []),
    ...choice.slugs.flatMap((slug, index) => {
      const path = choice.path === 'gateway' ? choice.path : `${choice.path}.${index}`;
      // The same for a gateway of another application: nobody learns which ones there are.
      return slugs.has(slug) ? [] : [unusableGateway(notUsable, path)];
    }),
  ];
  // The settings and limits of a gateway are hidden from a token that may not use it.
  if (!isAllowed) return { usable: found, problems: wrong };
  if (new Set(found.map(({ kind }) => kind)).size > 1) wrong.push(mixedKinds);
  const judged = found.map((gateway) => ({
    gateway,
    problems: problemsOf(gateway, {
      path: choice.path,
      name: choice.slugs.length > 1 ? `the gateway ${gateway.slug}` : undefined,
      terms,
      plan,
    }),
  }));
  const usable = judged.filter(({ problems }) => problems.length === 0);
  if (usable.length > 0) return { usable: usable.map(({ gateway }) => gateway), problems: wrong };
  return { usable: [], problems: [...wrong, ...judged.flatMap(({ problems }) => problems)] };
};

interface Selection {
  choice: Choice;
  isAllowed: boolean;
  terms: PaymentTerms | undefined;
  plan: SandboxPlan | undefined;
}

/** Why a gateway does not take the payment. */
const problemsOf = (
  { slug, driver, enabled }: Gateway,
  {
    path,
    name,
    terms,
    plan,
  }: Pick<Selection, 'terms' | 'plan'> & { path: string; name: string | undefined },
): FieldError[] => [
  ...(enabled ? [] : [unusableGateway(`has no gateway ${slug} in use`, path)]),
  ...(terms
    ? findPaymentProblems(driver, { ...terms, expiresInSeconds: terms.expires_in }, name)
    : []),
  ...(plan && driver !== sandboxAccount.driver ? [sandboxPlanElsewhere(name)] : []),
];

const notUsable = 'is no gateway that the application may use';

const namedTwice: FieldError = {
  path: 'gateways',
  rule: 'exclusive',
  message: 'must not be given together with gateway',
};

const mixedKinds: FieldError = {
  path: 'gateways',
  rule: 'kind',
  message: 'must be live gateways or sandboxes, not both',
};

const unusableGateway = (message: string, path: string): FieldError => ({
  path,
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
