import { z } from 'zod';
import type { Client } from './client.ts';
import type { Journal } from './journal.ts';
import type { CreatedPayment, RefusedScenario, Scenario } from './scenarios.ts';

const LinkResponse = z.object({ link_id: z.string(), url: z.string() });
const PaymentResponse = z.object({ expires_at: z.iso.datetime({ offset: true }) });

interface Deps {
  client: Client;
  journal: Journal;
  apiUrl: string;
  token: string;
}

const timeoutMs = 120_000;

/** The application makes a payment link, and two browsers of its payer send its form at once. */
export const createByLink = ({ client, journal, apiUrl, token }: Deps) => {
  const authorization = { authorization: `Bearer ${token}` };
  return async (scenario: Scenario): Promise<CreatedPayment | RefusedScenario | undefined> => {
    const { order, orderId, amount, currency } = scenario;
    const until = Date.now() + timeoutMs;
    const made = await client(
      {
        method: 'POST',
        url: `${apiUrl}/api/v1/links`,
        headers: {
          ...authorization,
          'content-type': 'application/json',
          'idempotency-key': order,
        },
        body: JSON.stringify({ order_id: orderId, amount, currency }),
      },
      { name: 'link', order, until, expects: [201] },
    );
    if (!made) return undefined;
    const { link_id: link, url } = LinkResponse.parse(JSON.parse(made.text));
    const send = () =>
      client({ method: 'POST', url }, { name: 'pay by link', order, until, expects: [303] });
    const sent = (await Promise.all([send(), send()])).filter((each) => each !== undefined);
    if (sent.length === 0) return undefined;
    const ids = sent.flatMap(({ location }) => /PAY_\w{26}/.exec(location)?.[0] ?? []);
    const [id] = ids;
    if (new Set(ids).size > 1) journal.addProblem(order, `its link began ${ids.join(' and ')}`);
    if (id === undefined) return { ...scenario, paidBy: undefined };
    const read = await client(
      { method: 'GET', url: `${apiUrl}/api/v1/payments/${id}`, headers: authorization },
      { name: 'read', order, until: Date.now() + timeoutMs, expects: [200] },
    );
    if (!read) return undefined;
    const { expires_at } = PaymentResponse.parse(JSON.parse(read.text));
    const [createdAt, expiresAt] = [Date.now(), Date.parse(expires_at)];
    return { ...scenario, id, link, createdAt, expiresAt, pages: new Set() };
  };
};
export type BeginByLink = ReturnType<typeof createByLink>;
