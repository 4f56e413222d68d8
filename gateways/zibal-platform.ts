import { z } from 'zod';
import { parseResponse } from './call.ts';
import { GatewayUnavailable } from './errors.ts';
import type { Tools } from './gateway.ts';

const host = 'https://api.zibal.ir';

const Envelope = z.object({ result: z.int(), message: z.string().nullish() });
/** The result of a success. */
export const done = 1;
export const Id = z.union([z.int(), z.string().regex(/^[\w-]{1,100}$/)]).transform(String);
/** Without an offset, in Tehran; some are a day alone. */
export const TehranTime = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?)?$/)
  .transform((text) => new Date(`${text.slice(0, 10)}T${text.slice(11) || '00:00:00'}+03:30`))
  .pipe(z.date());

/** Zibal's other API, with another credential and without a sandbox. */
export const createPlatform = (
  accessToken: string,
  { callsTo, override }: Pick<Tools, 'callsTo'> & { override: string | undefined },
) => {
  const call = callsTo({ provider: 'zibal', baseUrl: host, override });
  return async (operation: string, path: string, json: object) => {
    const headers = { authorization: `Bearer ${accessToken}` };
    const response = await call({ operation, method: 'POST', path, headers, json });
    const { result, message } = parseResponse(Envelope, response, `zibal, ${operation}`);
    return { response, result, message };
  };
};

export const unexpected = (operation: string, result: number) =>
  new GatewayUnavailable(`zibal, ${operation}: unexpected result ${result}`);
