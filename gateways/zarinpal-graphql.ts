import { z } from 'zod';
import type { HttpResponse } from './call.ts';
import type { Tools } from './gateway.ts';

const host = 'https://next.zarinpal.com';
const path = '/api/v4/graphql/';

/** Rials, as ours. */
export const Amount = z.union([
  z.int(),
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number),
]);
export const Id = z.union([z.int(), z.string().regex(/^[\x21-\x7e]{1,100}$/)]).transform(String);

/** ZarinPal's other API, with another credential and without a sandbox. */
export const createGraphql = (
  accessToken: string,
  { callsTo, override }: Pick<Tools, 'callsTo'> & { override: string | undefined },
): ((operation: string, query: string, variables: object) => Promise<HttpResponse>) => {
  const call = callsTo({ provider: 'zarinpal', baseUrl: host, override });
  return (operation, query, variables) =>
    call({
      operation,
      method: 'POST',
      path,
      headers: { authorization: `Bearer ${accessToken}` },
      json: { query, variables },
    });
};
