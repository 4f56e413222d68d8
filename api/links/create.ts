import { z } from 'zod';
import { CreateLink } from '../../contract/links/create.ts';
import { newLinkId } from '../../contract/ids.ts';
import { asCreatedLink, presentLink } from '../../contract/links/link.ts';
import { LinkResponse } from '../../contract/links/responses.ts';
import { IdempotencyKey } from '../../contract/request-fields.ts';
import type { Links } from '../../postgres/links/links.ts';
import { ownerOf } from '../http/owned-records.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { amountExample, parseBody } from '../http/validation.ts';
import { fingerprintOf, hashKey, readIdempotencyKey, replay } from '../payments/idempotency.ts';
import type { Deps as NewPaymentDeps } from '../payments/new-payment.ts';
import { linkExamples } from './examples.ts';
import { newPaymentOfLink } from './payment-of-link.ts';

const createExamples = {
  smallest: { order_id: 'invoice-2026-117', amount: 1250, currency: 'EUR' },
  everything: {
    order_id: 'invoice-2026-117',
    amount: 1250,
    currency: 'EUR',
    description: 'Invoice 2026-117',
    locale: 'de',
    expires_in: 604_800,
  },
} satisfies Record<string, z.input<typeof CreateLink>>;

export const createLinkRoute = {
  tag: 'Links',
  summary: 'Make a link',
  description:
    'Whoever has `url` can pay the order, once. Nothing is open at a gateway, and no payment exists, before a payer presses the ' +
    'button there; to open the page, also by a program that previews it, changes nothing. A try that fails, expires or is ' +
    'cancelled leaves the link open. Each try is a payment of the application, with `link_id`.\n\n' +
    'The token needs the scope `link`, which an admin gives. An `Idempotency-Key` makes the request safe to repeat; it is ' +
    'kept as long as the link.',
  headers: z.object({ 'idempotency-key': IdempotencyKey.optional() }),
  body: { json: CreateLink, examples: createExamples },
  validationExample: amountExample,
  responses: {
    201: {
      description: 'The link, `open`.',
      headers: ['location'],
      optionalHeaders: ['idempotent-replayed'],
      content: LinkResponse,
      examples: { open: linkExamples.open },
    },
  },
  errors: ['INVALID_IDEMPOTENCY_KEY', 'GATEWAY_NOT_ALLOWED', 'IDEMPOTENCY_KEY_REUSED'],
} as const satisfies RouteSpec;

export interface Deps extends NewPaymentDeps {
  links: Pick<Links, 'insert' | 'getByKey'>;
  publicBaseUrl: string;
}

export const createLinkHandler =
  (deps: Deps): Handler<'application', typeof createLinkRoute> =>
  async (request) => {
    const { links, publicBaseUrl, now } = deps;
    const { caller, refuse } = request;
    const key = readIdempotencyKey(request);
    const hash = key === undefined ? undefined : hashKey(key);
    const sent = await request.readJson();
    const fingerprint = fingerprintOf(sent);
    const owner = ownerOf(caller);
    const locationOf = (id: string) => `${publicBaseUrl}/api/v1/links/${id}`;

    const findStored = async () => {
      const stored = hash && (await links.getByKey(owner, hash));
      if (!stored) return undefined;
      const first = {
        fingerprint: stored.fingerprint,
        location: locationOf(stored.id),
        body: presentLink(asCreatedLink(stored), publicBaseUrl),
      };
      return replay(first, [fingerprint], refuse);
    };
    const repeated = await findStored();
    if (repeated) return repeated;

    const fields = parseBody(CreateLink, sent, refuse);
    const { order_id, amount, currency, description = null, locale = null } = fields;
    const link = { orderId: order_id, amount, currency, description, locale };
    const id = newLinkId();
    // A gateway must take its payments. A refusal names the field that is the link's, too.
    await newPaymentOfLink(deps, { ...link, id }, { caller, refuse });

    const expiresAt = new Date(now().getTime() + fields.expires_in * 1000);
    const created = await links.insert({
      ...owner,
      ...link,
      id,
      expiresAt,
      askedBy: null,
      key: hash ? { hash, fingerprint } : null,
    });
    if (created)
      return {
        status: 201,
        body: presentLink(created, publicBaseUrl),
        headers: { location: locationOf(id) },
      };
    // The same request, sent at the same moment.
    const stored = await findStored();
    if (stored) return stored;
    throw new Error('The idempotency key was taken, but its link was not found');
  };
