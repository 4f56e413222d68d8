import { describe, expect, it } from 'vitest';
import { toErrorReply } from '../../../../api/http/errors.ts';
import type { Handler, Reply } from '../../../../api/http/route.ts';
import type { Routes } from '../../../../api/routes.ts';
import { routes } from '../../../../api/routes.ts';
import { PaymentError } from '../../../../contract/errors.ts';

// Each of these is held by the compiler: an error that is expected and does not come is one.
const undeclared = {
  code: (async ({ refuse }) => {
    // @ts-expect-error A route without a body cannot refuse one.
    throw refuse('MALFORMED_JSON', '');
  }) satisfies Handler<Routes['getPayment']>,
  status: async (): Promise<Reply<202>> => ({ status: 202 }),
  body: (async (request) => {
    // @ts-expect-error A route without a body cannot read one.
    await request.readJson();
    return { status: 200 };
  }) satisfies Handler<Routes['getPayment']>,
  caller: (async (request) => {
    // @ts-expect-error Whoever holds a payment's link is no application.
    return { status: 200, body: String(request.caller) };
  }) satisfies Handler<Routes['showSandbox']>,
};
// @ts-expect-error The row does not have this status.
export const accepted: Handler<Routes['createPayment']> = undeclared.status;

describe('a code that a route does not declare', () => {
  const answer = async (route: keyof Routes) => {
    const logged: unknown[] = [];
    const logger = { error: (...line: unknown[]) => void logged.push(line) };
    const error = new PaymentError('IDEMPOTENCY_KEY_REUSED', 'The secret reason.');
    const reply = await toErrorReply(error, { requestId: 'req_1', route: routes[route], logger });
    return { ...reply, logged };
  };

  it('becomes INTERNAL, and the log says which it was', async () => {
    const { status, body, logged } = await answer('getPayment');
    expect(status).toBe(500);
    expect(body).toContain('"INTERNAL"');
    expect(body).not.toContain('secret');
    expect(logged).toHaveLength(1);
  });

  it('is answered where it is declared', async () => {
    const { status, logged } = await answer('createPayment');
    expect(status).toBe(422);
    expect(logged).toEqual([]);
  });
});
