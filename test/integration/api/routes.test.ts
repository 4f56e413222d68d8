import { describe, expect, it } from 'vitest';
import type { Route } from '../../../api/http/route.ts';
import { routes } from '../../../api/routes.ts';
import { type TokenScope, tokenScopes } from '../../../contract/token.ts';
import { problemsOf, refusalOf } from '../../support/service/answers.ts';
import { createJourney } from '../../support/service/journey.ts';
import { useService } from '../../support/service/service.ts';
import { forFile } from '../../support/for-file.ts';

const service = await forFile(useService());

const operations = Object.entries<Route>(routes)
  .filter(([, { access }]) => access === 'application')
  .map(([name, { method, path }]) => ({ name, method, path }));

/** The routes of a token with this scope alone, beside `getApplication`. */
const allowed: Record<TokenScope, string[]> = {
  create: ['createPayment', 'verifyPayment', 'cancelPayment'],
  read: [
    'listPayments',
    'getPayment',
    'listRefundsOfPayment',
    'listRefunds',
    'getRefund',
    'listGateways',
    'listDisputesOfPayment',
    'listDisputes',
    'getDispute',
    'listMovements',
    'listLinks',
    'getLink',
    'getWebhook',
    'listEvents',
    'getEvent',
    'getReplay',
  ],
  replay: ['replayEvent', 'createReplay', 'stopReplay', 'testWebhook'],
  refund: ['createRefund', 'cancelRefund'],
  link: ['createLink', 'disableLink'],
};

/** An application with a payment; `send` calls an operation for that payment. */
const anApplication = async ({ requestsPerMinute = 1_000 } = {}) => {
  const { application, token, journey } = await service.anApplication({ requestsPerMinute });
  const id = await journey.create();
  const send = async ({ method, path }: Pick<Route, 'method' | 'path'>) => {
    const body = path.endsWith('/payments') && method === 'POST' ? {} : undefined;
    // Each from an address of its own: there are more operations than an address may fail in a minute.
    const { request } = createJourney(service, token);
    const answer = await request(method, path.replace(':payment_id', id), body);
    return refusalOf(answer);
  };
  return { application, send };
};

describe('every operation of applications', () => {
  it('answers 403 to a disabled application', async () => {
    const { application, send } = await anApplication();
    await service.sql`update applications set status = 'disabled' where slug = ${application}`;
    for (const operation of operations)
      expect(await send(operation), operation.name).toEqual([403, 'APPLICATION_DISABLED']);
  });

  it('answers 403 to a token without its scope, and to no other', async () => {
    const { issue, journey } = await service.anApplication();
    const id = await journey.create();
    const refusedTo = async (scope: TokenScope) => {
      const { request } = createJourney(service, await issue('test', [scope]));
      const answers = await Promise.all(
        operations.map(async ({ name, method, path }) => {
          const body = name === 'createPayment' ? {} : undefined;
          const answer = await request(method, path.replace(':payment_id', id), body);
          return refusalOf(answer)[1] === 'INSUFFICIENT_SCOPE' ? [name] : [];
        }),
      );
      return answers.flat();
    };
    for (const scope of tokenScopes) {
      const others = tokenScopes.filter((other) => other !== scope);
      const expected = others.flatMap((other) => allowed[other]);
      expect((await refusedTo(scope)).toSorted(), scope).toEqual(expected.toSorted());
    }
  });

  it('answers 422 to a parameter that it does not know, and does nothing', async () => {
    const { journey } = await service.anApplication();
    const id = await journey.create();
    for (const { name, method, path } of operations) {
      const known = path.replace(':payment_id', id);
      const answer = await journey.request(method, `${known}?colour=red`);
      expect(refusalOf(answer), name).toEqual([422, 'VALIDATION_FAILED']);
      const unknown = { path: 'colour', rule: 'unknown_field', message: 'is not a known field' };
      expect(problemsOf(answer), name).toEqual([unknown]);
    }
    expect((await journey.get(id)).json).toMatchObject({ status: 'pending' });
  });

  it('counts in the budget, and answers 429 when the budget is used up', async () => {
    const { application, send } = await anApplication();
    // With a budget of 1 one of two requests is rejected, even if the minute ends between them.
    await service.sql`update applications set requests_per_minute = 1 where slug = ${application}`;
    for (const operation of operations) {
      const answers = [await send(operation), await send(operation)];
      expect(answers, operation.name).toContainEqual([429, 'RATE_LIMITED']);
    }
  });
});
