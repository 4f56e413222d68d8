import { z } from 'zod';
import type { HttpResponse } from './call.ts';
import { parseResponse } from './call.ts';
import { GatewayUnavailable } from './errors.ts';
import type { OpenResult } from './gateway.ts';
import { providerMessage } from './redact.ts';

/*
 * Source of the fields and codes: SEP's technical document 4.1 of January 2025. A comment names another source, and
 * where the document contradicts itself.
 */

/** At most 50 characters, in base64. */
export const RefNum = z.string().regex(/^[\x21-\x7e]{1,50}$/);
const Token = z.string().regex(/^[\x21-\x7e]{1,200}$/);
/** A number in the document, a text in its request for a token. */
const Terminal = z.union([z.int(), z.string()]).transform(String);
const Amount = z.int().nonnegative();

const Opening = z.discriminatedUnion('status', [
  z.object({ status: z.literal(1), token: Token }),
  z.object({
    status: z.literal(-1),
    errorCode: z.union([z.int(), z.string()]).transform(String),
    errorDesc: z.string().nullish(),
  }),
]);

/**
 * Refusals because of the account or the request: invalid parameters, our address, the terminal. The document has no
 * table for a token, although its list of changes names one: these are its example and its table for the receipt.
 */
const openingRefusals = new Set(['5', '8', '12', '20']);
const namesPayer = /cell|mobile|موبایل/i;

/** @throws GatewayUnavailable for a code that is in no list */
export const parseOpening = (
  response: HttpResponse,
): { token: string } | Extract<OpenResult, { result: 'refused' }> => {
  const opening = parseResponse(Opening, response, 'sep, token');
  if (opening.status === 1) return { token: opening.token };
  const { errorCode, errorDesc } = opening;
  if (!openingRefusals.has(errorCode)) throw unexpected('token', errorCode);
  return {
    result: 'refused',
    ...providerMessage(errorCode, errorDesc),
    // No code is known to be about it.
    ...(namesPayer.test(errorDesc ?? '') && { isAboutPayer: true }),
  };
};

const whose = { TerminalId: Terminal, Token: z.string() };
const Receipt = z.discriminatedUnion('State', [
  z.object({ ...whose, State: z.literal('InProgress'), Status: z.literal(0) }),
  z.object({ ...whose, State: z.literal('CanceledByUser'), Status: z.literal(1) }),
  z.object({ ...whose, State: z.literal('Failed'), Status: z.literal(3) }),
  z.object({
    ...whose,
    State: z.literal('OK'),
    Status: z.literal(2),
    RefNum,
    ResNum: z.string(),
    Amount,
    AffectiveAmount: Amount,
  }),
]);
export type Receipt = z.output<typeof Receipt>;
const ReceiptAnswer = z.discriminatedUnion('HasError', [
  z.object({ HasError: z.literal(false), Data: Receipt }),
  z.object({ HasError: z.literal(true), ErrorCode: z.int() }),
]);
const notFound = 404;

/** @returns undefined if there is no receipt, or none any more */
export const parseReceipt = (response: HttpResponse): Receipt | undefined => {
  const answer = parseResponse(ReceiptAnswer, response, 'sep, receipt');
  if (!answer.HasError) return answer.Data;
  if (answer.ErrorCode === notFound) return undefined;
  throw unexpected('receipt', answer.ErrorCode);
};

/** The document's example has a blank before `TransactionDetail`, its table has none. */
const withoutBlanks = (body: unknown): unknown =>
  typeof body === 'object' && body !== null
    ? Object.fromEntries(Object.entries(body).map(([name, value]) => [name.trim(), value]))
    : body;
const Envelope = z.preprocess(
  withoutBlanks,
  z.object({
    ResultCode: z.int(),
    ResultDescription: z.string().nullish(),
    Success: z.boolean().nullish(),
    TransactionDetail: z.unknown(),
  }),
);
const Detail = z.object({
  RefNum,
  TerminalNumber: Terminal,
  OrginalAmount: Amount,
  AffectiveAmount: Amount,
  MaskedPan: z.string().nullish(),
  StraceDate: z.string().nullish(),
});
export type Detail = z.output<typeof Detail>;

/** A verification and a reversal have these. */
export const codes = {
  done: 0,
  /** Done before: the text of the document says that a verification is confirmed again instead. */
  repeated: 2,
  reversed: 5,
  unknownRefNum: -2,
  /** The half hour after the payment is over. */
  tooLate: -6,
} as const;
/** Terminal inactive, terminal unknown, our address. */
export const accountRefusals = new Set([-104, -105, -106]);

export interface Result {
  code: number;
  message: string | null | undefined;
  /** Always with `done`, and perhaps with `repeated`. */
  detail?: Detail | undefined;
}

/** @throws GatewayUnavailable for a transaction other than that with the RefNum at the terminal */
export const parseResult = (
  operation: string,
  response: HttpResponse,
  { refNum, terminalId }: { refNum: string; terminalId: string },
): Result => {
  const name = `sep, ${operation}`;
  const body = parseResponse(Envelope, response, name);
  const { ResultCode: code, ResultDescription: message } = body;
  if (code !== codes.done && code !== codes.repeated) return { code, message };
  if (code === codes.done && body.Success !== true)
    throw new GatewayUnavailable(`${name}: result 0 without success`);
  const found = { ...response, body: body.TransactionDetail };
  const detail =
    code === codes.done
      ? parseResponse(Detail, found, name)
      : Detail.safeParse(body.TransactionDetail).data;
  if (detail && (detail.RefNum !== refNum || detail.TerminalNumber !== terminalId))
    throw new GatewayUnavailable(`${name}: the response is about another transaction`);
  return { code, message, detail };
};

export const unexpected = (operation: string, code: number | string) =>
  new GatewayUnavailable(`sep, ${operation}: unexpected result ${code}`);
