import { expect, it } from 'vitest';
import { PaymentError } from '../../../../contract/errors.ts';
import { aCaller } from '../../../support/data/a-caller.ts';
import { serve } from '../../../support/servers/http-application.ts';

it.each([
  [500, new TypeError('x is undefined')],
  [503, new PaymentError('SERVICE_UNAVAILABLE', 'Try again later.')],
])('includes the budget headers in a response with %i', async (status, error) => {
  const caller = aCaller(7);
  const { url } = await serve(
    { getApplication: () => Promise.reject(error) },
    {
      authenticate: async ({ onBudget }) => {
        onBudget(caller.budget);
        return caller;
      },
    },
  );
  const answer = await fetch(`${url}/api/v1/me`);
  expect(answer.status).toBe(status);
  expect(answer.headers.get('x-ratelimit-limit')).toBe('120');
  expect(answer.headers.get('x-ratelimit-remaining')).toBe('113');
});
