import { z } from 'zod';
import type { Call, HttpResponse } from './call.ts';
import type { Tools } from './gateway.ts';

const host = 'https://api.vandar.io';

export const Token = z.string().regex(/^[\x21-\x7e]{8,4000}$/);
/** The tokens can move money out, so only an account that refunds has them. */
export const RefundCredentials = z.strictObject({
  /** The name of the business in addresses. */
  business: z.string().regex(/^[\w-]{1,100}$/),
  accessToken: Token,
  refreshToken: Token,
  /** The service writes it with each renewal. Without it the tokens are renewed at once. */
  endsAt: z.iso.datetime().optional(),
});
export type RefundCredentials = z.output<typeof RefundCredentials>;

/** Vandar's other API, with another credential and without a test account. */
export const createApi = ({
  callsTo,
  override,
}: Pick<Tools, 'callsTo'> & { override: string | undefined }): ((
  call: Call,
) => Promise<HttpResponse>) => callsTo({ provider: 'vandar', baseUrl: host, override });

const Texts = z.object({
  errors: z.union([z.array(z.unknown()), z.record(z.string(), z.unknown())]).optional(),
  error: z.string().optional(),
  message: z.string().optional(),
});

/** What a refusal says: a list of texts, texts by field, or one text. */
export const textOf = (body: unknown): string => {
  const { errors = [], error, message } = Texts.safeParse(body).data ?? {};
  return [...Object.values(errors).flat(), error, message]
    .filter((text) => typeof text === 'string')
    .join('; ');
};
