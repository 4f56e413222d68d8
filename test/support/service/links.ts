import { expect } from 'vitest';
import { linkEventId } from '../../../contract/ids.ts';
import { until } from '../until.ts';
import { answered, type Journey } from './journey.ts';
import type { SharedService } from './service.ts';

let orders = 0;

/** A link of a new order, with its page. */
export const aLink = async (
  { sql }: Pick<SharedService, 'sql'>,
  journey: Journey,
  fields: Record<string, unknown> = {},
) => {
  orders += 1;
  const sent = { order_id: `invoice-${orders}`, amount: 1250, currency: 'EUR', ...fields };
  const made = await journey.request('POST', '/api/v1/links', sent);
  expect(made.status, made.text).toBe(201);
  const id = String(made.json['link_id']);
  const path = `/api/v1/links/${id}/pay`;
  const read = async () => (await journey.request('GET', `/api/v1/links/${id}`)).json;
  return {
    id,
    path,
    json: made.json,
    read,
    disable: () => journey.request('POST', `/api/v1/links/${id}/disable`),
    open: () => journey.call('GET', path),
    /** Presses the button. @returns the payment, or undefined if nobody can pay */
    async begin(): Promise<string | undefined> {
      const { status, headers, text } = await journey.call('POST', path);
      expect(status, text).toBe(303);
      return /PAY_\w{26}/.exec(headers.get('location') ?? '')?.[0];
    },
    becomes: (status: string) =>
      until(`the link is ${status}`, async () => {
        const now = await read();
        return now['status'] === status && now;
      }),
    tries: () => sql<{ id: string }[]>`select id from payments where link_id = ${id} order by id`,
    /** Its own events. */
    events: async () =>
      (await sql<{ kind: string }[]>`select kind from events where id = ${linkEventId(id)}`).map(
        ({ kind }) => kind,
      ),
  };
};

/** The payer of a try chooses at the sandbox, and comes back until the outcome is there. @returns where the payer is sent */
export const finishTry = async (journey: Journey, id: string, action: string) => {
  await answered(() => journey.checkout(id));
  await journey.choose(id, action);
  return until('the outcome', async () => {
    const back = await journey.comeBack(id);
    const location = back.headers.get('location') ?? '';
    return location.includes('status=') && !location.includes('status=processing') && location;
  });
};
