import { describe, expect, it } from 'vitest';
import { errorResponse } from '../../../../api/http/error-response.ts';
import { errorPage } from '../../../../api/payer/pages.ts';
import { routes, type Routes } from '../../../../api/routes.ts';
import { errorResponses } from '../../../../contract/error-responses.ts';
import { errors, PaymentError } from '../../../../contract/errors.ts';
import { newRequestId } from '../../../../contract/ids.ts';
import { aBrowser } from '../../../support/data/a-browser.ts';

const responseTo = async (error: unknown, route: keyof Routes) => {
  const logged: unknown[] = [];
  const logger = { error: (...line: unknown[]) => void logged.push(line) };
  const { status, body } = await errorResponse(error, {
    requestId: newRequestId(),
    route: routes[route],
    logger,
    errorPage,
    request: aBrowser(),
  });
  return { status, body: String(body), logged };
};

it('a code that a route does not declare becomes INTERNAL, and is logged', async () => {
  const error = new PaymentError('IDEMPOTENCY_KEY_REUSED', 'The secret reason.');
  const { status, body, logged } = await responseTo(error, 'getPayment');
  expect(status).toBe(500);
  expect(body).toContain('"INTERNAL"');
  expect(body).toContain(errors.INTERNAL.meaning);
  expect(body).not.toContain('secret');
  expect(logged).toHaveLength(1);
});

describe('a validation error', () => {
  const errorWith = async (count: number) => {
    const fields = Array.from({ length: count }, (_, index) => ({
      path: `n${index}`,
      rule: 'unknown_field',
      message: 'is not a known field',
    }));
    const failed = new PaymentError('VALIDATION_FAILED', 'The query is not valid.', {
      details: { fields },
    });
    const { body } = await responseTo(failed, 'listPayments');
    const { error } = errorResponses.VALIDATION_FAILED.parse(JSON.parse(body)) as {
      error: { message: string; details: { fields: { path: string }[] } };
    };
    return { length: body.length, message: error.message, fields: error.details.fields };
  };

  it('lists up to 50 problems', async () => {
    const { fields, message } = await errorWith(50);
    expect([fields.length, message]).toEqual([50, 'The query is not valid.']);
  });

  it('lists the first 50 of more problems, and says how many there are', async () => {
    const { fields, message, length } = await errorWith(4_000);
    expect(fields.map(({ path }) => path)).toEqual(
      Array.from({ length: 50 }, (_, index) => `n${index}`),
    );
    expect(message).toContain('the first 50 of 4000 problems.');
    expect(length).toBeLessThan(5_000);
  });
});
