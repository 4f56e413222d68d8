import { randomBytes, randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { Route } from '../../../../api/http/route.ts';
import { routes } from '../../../../api/routes.ts';
import { documentText } from '../../../../tools/release-openapi.ts';
import { eventId } from '../../../../contract/ids.ts';
import { earlyMoments, type FieldValues, lateMoments } from '../../../support/data/arbitraries.ts';
import {
  hostileInOnePart,
  type HostileRequest,
  hostileRequests,
} from '../../../support/data/hostile-requests.ts';
import { listed, paginationOf, problemsOf } from '../../../support/service/answers.ts';
import {
  answered,
  createJourney,
  type Answer,
  type Journey,
} from '../../../support/service/journey.ts';
import {
  createResolve,
  type OpenApiDocument,
  type Operation,
} from '../../../support/checks/openapi.ts';
import { rawRequest, type RawRequest } from '../../../support/servers/raw-http.ts';
import type { TokenMode } from '../../../../contract/token.ts';
import { aDispute, recordDisputes } from '../../../support/data/disputes.ts';
import { refund } from '../../../support/service/refunds.ts';
import { useOwnApi } from '../../../support/service/service.ts';
import { addStripe, signed } from '../../../support/service/stripe-account.ts';
import {
  invalidRequests,
  toRequest,
  validRequests,
  type Parts,
} from '../../../support/data/request-samples.ts';
import { forFile } from '../../../support/for-file.ts';

interface Caller {
  application: string;
  token: string;
  issue: (mode: TokenMode) => Promise<string>;
  ids: string[];
  journey: Journey;
  cursor: string;
  eventIds: string[];
  replayId: string;
  /** A paid payment of the largest amount, and a refund of it. */
  paidId: string;
  refundId: string;
  disputeId: string;
  linkId: string;
  /** The key of the reports on each of its payments. */
  reportKey: string;
  /** The token of the link in a mail about its webhooks. */
  noticeToken: string;
}

const document = JSON.parse(documentText()) as OpenApiDocument;
const resolve = createResolve(document);
const operations = Object.entries<Route>(routes).map(([name, route]) => {
  const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
  const operation: Operation = document.paths[path]?.[route.method.toLowerCase()] ?? {};
  return { name, route, path, operation };
});
type Described = (typeof operations)[number];

const agent = new Agent({ keepAlive: true, maxSockets: 20 });

/** An application with payments in every status that a payer can cause without waiting. */
const aCaller = async (): Promise<Caller> => {
  const { application, token, issue } = await service.anApplication();
  const journey = createJourney(service, token);
  const ids = [await journey.create(), await journey.atGateway(), await journey.finish('pay')];
  for (const action of ['refuse', 'cancel']) ids.push(await journey.finish(action));
  const list = await journey.request('GET', '/api/v1/payments?per_page=2');
  const cursor = paginationOf(list).next_cursor ?? '';
  const eventIds = ids.slice(2).map(eventId);
  // There is nothing to replay, so it ends at once.
  const replay = await journey.request('POST', '/api/v1/replays', {
    from: '2020-01-01',
    to: '2020-01-01',
  });
  const replayId = String(replay.json['replay_id']);
  const paidId = await journey.atGateway({ amount: 999_999_999_999 });
  await journey.choose(paidId, 'pay');
  await journey.comeBack(paidId);
  const refunded = await refund(journey, paidId, { amount: 1 });
  const refundId = String(refunded.json['refund_id']);
  const dispute = aDispute({ reason: '"\u2028', respondBy: null });
  await recordDisputes(service.sql, paidId, [dispute]);
  const disputed = await journey.request('GET', '/api/v1/disputes');
  const disputeId = String(listed(disputed, 'dispute_id')[0]);
  const link = await journey.request('POST', '/api/v1/links', {
    ...{ order_id: 'of a link', amount: 1250, currency: 'EUR' },
  });
  const linkId = String(link.json['link_id']);
  const reportKey = randomBytes(24).toString('base64url');
  await service.sql`
    update payments set report_key = ${reportKey} where application = ${application}`;
  const noticeToken = randomBytes(32).toString('base64url');
  await service.sql`
    insert into notice_addresses (application, address) values (${application}, 'ops@shop.example')`;
  await service.sql`
    insert into notice_links (hash, application, address)
    values (sha256(${noticeToken}::text::bytea), ${application}, 'ops@shop.example')`;
  return {
    ...{ application, token, issue, ids, journey, cursor, eventIds, replayId, paidId, refundId },
    ...{ disputeId, linkId, reportKey, noticeToken },
  };
};

// Every request has another client address, because limits by address would reject most of them.
const service = await forFile(useOwnApi({ TRUSTED_PROXIES: '127.0.0.1', LOG_LEVEL: 'error' }));
await forFile(addStripe(service, 'stripe-of-fuzz'));
const [one, other] = await Promise.all([aCaller(), aCaller()]);
afterAll(() => agent.destroy());

let sent = 0;
const send = async (path: string, request: RawRequest): Promise<Answer> => {
  sent += 1;
  const address = `10.${(sent >> 16) & 255}.${(sent >> 8) & 255}.${sent & 255}`;
  const { body } = request;
  const headers = {
    ...request.headers,
    'x-forwarded-for': address,
    // Node sends the body of a GET without a length; the server would parse it as the next request.
    ...((typeof body === 'string' || body instanceof Uint8Array) && {
      'content-length': String(Buffer.byteLength(body)),
    }),
  };
  // Compares every response with the table of routes.
  const answer = await rawRequest(`${service.url}${path}`, { ...request, headers, agent });
  expect(answer.status, answer.text).not.toBe(500);
  return answer;
};

const isJson = ({ route }: Described) => route.body !== undefined && 'json' in route.body;
const typeOf = (described: Described) =>
  isJson(described) ? 'application/json' : 'application/x-www-form-urlencoded';
const sendParts = (
  described: Described,
  parts: Parts,
  authorization: string | undefined,
): Promise<Answer> => {
  const { path, headers, body } = toRequest(described.path, parts);
  const type = typeOf(described);
  const isForGateway = described.route.access === 'gateway';
  const text =
    isJson(described) || isForGateway
      ? JSON.stringify(body)
      : new URLSearchParams(body as Record<string, string>).toString();
  return send(path, {
    method: described.route.method,
    headers: {
      ...headers,
      ...(body === undefined ? {} : { 'content-type': type }),
      ...(isForGateway ? signed(text) : {}),
      ...(authorization === undefined ? {} : { authorization }),
    },
    ...(body === undefined ? {} : { body: text }),
  });
};

/** Values for fields whose rules are only in a description. */
const fieldValues = (caller: Caller): FieldValues => ({
  payment_id: fc.constantFrom(...caller.ids),
  callback_url: fc.constantFrom('http://127.0.0.1:9/return', 'http://127.0.0.1:9/other?kept=1'),
  event_id: fc.constantFrom(...caller.eventIds),
  replay_id: fc.constant(caller.replayId),
  refund_id: fc.constant(caller.refundId),
  dispute_id: fc.constant(caller.disputeId),
  link_id: fc.constant(caller.linkId),
  report_key: fc.constant(caller.reportKey),
  token: fc.constant(caller.noticeToken),
  sandbox: fc.constantFrom(
    { outcome: 'paid' },
    { outcome: 'failed', failure_code: 'invalid_card', returns: false },
    { outcome: 'abandoned', after_seconds: 59 },
    { outcome: 'paid_late', after_seconds: 3_600 },
    { outcome: 'silent', after_seconds: 1 },
  ),
  gateway: fc.constant('sandbox'),
  from: earlyMoments,
  to: lateMoments,
  cursor: fc.constant(caller.cursor),
  'Idempotency-Key': fc
    .stringMatching(/^[\x20-\x7e]{0,200}$/)
    .map((text) => `${randomUUID()}${text}.`),
  // What HTTP carries.
  Traceparent: fc.oneof(
    fc.constant('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'),
    fc.stringMatching(/^[\x20-\x7e]{0,60}$/),
  ),
  metadata: fc.dictionary(
    fc.string({ maxLength: 20 }),
    fc.jsonValue({ maxDepth: 3, stringUnit: fc.constantFrom(...'aé"\\/\n\u2028😀') }),
    { maxKeys: 20 },
  ),
});

/** The times of a replay belong together. Without a dry run it is possible once at a time. */
const replayValues: FieldValues = {
  body: fc.record({
    from: fc.constantFrom('2026-11-01', '2026-11-01T00:00:00Z'),
    to: fc.constantFrom('2026-11-01', '2026-12-01T23:59:59+01:00'),
    delivery: fc.constantFrom('exhausted', 'delivered'),
    dry_run: fc.constant(true),
  }),
};

/** Small parts of a large payment, so that every one of them fits. */
const refundValues = ({ paidId }: Caller): FieldValues => ({
  payment_id: fc.constant(paidId),
  body: fc.record(
    {
      amount: fc.integer({ min: 1, max: 1_000 }),
      reason: fc.constantFrom('requested_by_customer', 'duplicate', 'fraudulent', 'other'),
      reference: fc.string({ maxLength: 100 }),
      sandbox: fc.constantFrom({ outcome: 'succeeded' }, { outcome: 'pending', after_seconds: 1 }),
    },
    { requiredKeys: ['amount'] },
  ),
});

/**
 * Values that only some operations need. A cursor of events belongs to its filters, and a create names one gateway or a
 * list.
 */
const ownValues: Record<string, FieldValues> = {
  createPayment: {
    gateway: fc.constant(undefined),
    gateways: fc.constantFrom(undefined, ['sandbox']),
  },
  createReplay: replayValues,
  createRefund: refundValues(one),
  listRefunds: { cursor: fc.constant(undefined) },
  listRefundsOfPayment: { cursor: fc.constant(undefined) },
  listDisputes: { cursor: fc.constant(undefined) },
  listDisputesOfPayment: { cursor: fc.constant(undefined) },
  listMovements: { cursor: fc.constant(undefined) },
  listLinks: { cursor: fc.constant(undefined) },
  listEvents: { cursor: fc.constant(undefined) },
};

/** Notifications of Stripe: any JSON, or an event of a session. */
const stripeValues: FieldValues = {
  gateway: fc.constant('stripe-of-fuzz'),
  body: fc.oneof(
    fc.jsonValue(),
    fc.record({
      livemode: fc.boolean(),
      type: fc.constantFrom('checkout.session.completed', 'charge.refunded'),
      data: fc.record({ object: fc.record({ id: fc.constant('cs_test_a1') }) }),
    }),
  ),
};

/** Sends requests in batches, so that they run at the same time. Never stops early for time. */
const inBatches = <T>(
  arbitrary: fc.Arbitrary<readonly T[]>,
  check: (value: T) => Promise<void>,
  { batches = 1 } = {},
): Promise<void> =>
  fc.assert(
    fc.asyncProperty(arbitrary, async (values) => void (await Promise.all(values.map(check)))),
    // Shrinking takes long, and a batch that fails alone explains little.
    { numRuns: batches, endOnFailure: true },
  );
const manyOf = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.array(arbitrary, { minLength: 25, maxLength: 25 });

const bearer = ({ token }: Pick<Caller, 'token'>) => `Bearer ${token}`;
const named = operations.map((described) => [described.name, described] as const);

/** A create starts a workflow and a return asks a gateway: both are slow. */
const slow = ['createRefund', 'returnFromGateway', 'returnFromGatewayByPost', 'testWebhook'];

describe('every operation', () => {
  it.each(named)('accepts every request that the document allows: %s', async (name, described) => {
    const { route, operation } = described;
    const values = {
      ...fieldValues(one),
      ...(route.access === 'gateway' && stripeValues),
      ...ownValues[name],
    };
    const statuses = Object.keys(route.responses).map(Number);
    // Six samples in a minute are allowed, and 20 reports on a payment.
    if (name === 'testWebhook' || name === 'reportOnPayment') statuses.push(429);
    // The gateway was told, and the payment has ended.
    if (name === 'cancelRefund' || name === 'cancelPayment') statuses.push(409);
    const requests = manyOf(validRequests(operation, resolve, values));
    const check = async (parts: Parts) => {
      const ask = () => sendParts(described, parts, bearer(one));
      // On a busy machine the gateway takes longer than a verify waits.
      const answer = await (name === 'verifyPayment' ? answered(ask) : ask());
      expect(statuses, answer.text).toContain(answer.status);
      expect(answer.text).not.toContain(other.application);
    };
    await inBatches(requests, check, { batches: slow.includes(name) ? 2 : 4 });
  });

  // A payer's form has only texts, and a page ignores unknown fields.
  const withRules = named.filter(
    ([, { route, operation }]) =>
      route.access !== 'payer' && invalidRequests(operation, resolve, {}).length > 0,
  );
  it.each(withRules)('rejects a request with one invalid part: %s', async (name, described) => {
    const values = { ...fieldValues(one), ...ownValues[name] };
    const requests = fc.tuple(...invalidRequests(described.operation, resolve, values));
    await inBatches(requests, async ({ parts, at }) => {
      const answer = await sendParts(described, parts, bearer(one));
      expect(answer.status, `${at}: ${JSON.stringify(parts)} ${answer.text}`).toBe(422);
      expect(problemsOf(answer).map(({ path }) => path)).toContainEqual(
        expect.stringMatching(new RegExp(`^${at}(\\.|$)`)),
      );
    });
  });
});

const forApplications = named.filter(([, { route }]) => route.access === 'application');

/** The ids of a caller's records, by their name in a path. */
const idsOf = (caller: Caller): Record<string, readonly string[]> => ({
  payment_id: [...caller.ids, caller.paidId],
  event_id: caller.eventIds,
  replay_id: [caller.replayId],
  refund_id: [caller.refundId],
  dispute_id: [caller.disputeId],
  link_id: [caller.linkId],
});
const idNameOf = ({ path }: Pick<Described, 'path'>) => /\{(\w+)\}/.exec(path)?.[1] ?? '';

describe('every operation of applications', () => {
  it.each(forApplications)(
    'rejects a request without a valid token: %s',
    async (_name, described) => {
      const valid = validRequests(described.operation, resolve, fieldValues(one));
      const wrong = [
        ...[undefined, '', 'Bearer', 'Bearer ', 'Basic eDp5', `Bearer svc_live_${'0'.repeat(43)}`],
      ].map((token) => fc.constant(token));
      const others = [
        fc.stringMatching(/^Bearer svc_(live|test)_[0-9A-Za-z]{43}$/),
        fc.stringMatching(/^[\x20-\x7e]{1,80}$/),
      ];
      const requests = [...wrong, ...others].map((token) => fc.tuple(valid, token));
      await inBatches(fc.tuple(...requests), async ([parts, authorization]) => {
        const { status } = await sendParts(described, parts, authorization);
        expect(status).toBe(401);
      });
    },
  );

  it('does not find a record of another application or mode', async () => {
    const live = await one.issue('live');
    const ofRecords = forApplications.filter(([, described]) => idNameOf(described) in idsOf(one));
    expect(ofRecords).toHaveLength(15);
    for (const [name, described] of ofRecords)
      for (const [owner, token] of [
        [one, other.token],
        [other, one.token],
        [one, live],
      ] as const)
        for (const id of idsOf(owner)[idNameOf(described)] ?? []) {
          const parts = {
            path: { [idNameOf(described)]: id },
            query: {},
            header: name === 'createRefund' ? { 'Idempotency-Key': randomUUID() } : {},
            body: isJson(described) ? {} : undefined,
          };
          const answer = await sendParts(described, parts, bearer({ token }));
          expect(answer.status, `${name} ${answer.text}`).toBe(404);
          expect(answer.text).toMatch(/"code":"\w+_NOT_FOUND"/);
        }
  });
});

it.each(named)('answers hostile requests as declared: %s', async (_name, described) => {
  const { route, operation } = described;
  const idName = idNameOf(described);
  const { [idName]: own = [] } = {
    ...idsOf(one),
    token: [one.noticeToken],
    gateway: ['stripe-of-fuzz'],
  };
  const ids = [...own, ...(idsOf(other)[idName] ?? []), 'PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP'];
  const right = {
    method: route.method,
    path: route.path.replace(/:\w+/, own[0] ?? ''),
    headers: {
      authorization: bearer(one),
      'content-type': typeOf(described),
      'idempotency-key': randomUUID(),
    },
    body: '{}',
  };
  const names = (operation.parameters ?? []).flatMap((each) =>
    each.in === 'query' ? [each.name] : [],
  );
  const hostile = hostileRequests(route.path, {
    ids,
    authorization: fc.constantFrom(bearer(one), bearer(one).toLowerCase(), 'Bearer', 'Basic eDp5'),
  });
  const check = async ({ path, ...request }: HostileRequest) => {
    const { text } = await send(path, request);
    // A payer's page names the shop to everybody who has its link.
    expect(route.access !== 'payer' && text.includes(other.application), text).toBe(false);
  };
  if (route.access === 'application') {
    const { status, text } = await send(right.path, right);
    expect(status, text).not.toBe(401);
    expect(text).not.toContain('IDEMPOTENCY_KEY_REQUIRED');
  }
  await Promise.all(hostileInOnePart(right, { template: route.path, names }).map(check));
  await inBatches(manyOf(hostile), check, { batches: 3 });
});
