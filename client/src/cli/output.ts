import type { Payments } from '../client.ts';

export interface Flags {
  'forward-to'?: string;
  from?: string;
  'print-secret'?: boolean;
  order?: string;
  amount?: string;
  currency?: string;
  'failure-code'?: string;
  delivery?: string;
  payment?: string;
  limit?: string;
  json?: boolean;
  live?: boolean;
}

/** The dependencies of every command. */
export interface Cli {
  client: Payments;
  token: string;
  word: string;
  flags: Flags;
}

/** The command was not written as `--help` shows it. */
export class UsageError extends Error {}

/** The value of an option that takes a whole number from 1. @throws UsageError */
export const countOf = (flag: string, text: string, max: number): number => {
  if (/^[1-9]\d{0,14}$/.test(text) && Number(text) <= max) return Number(text);
  throw new UsageError(`${flag} must be a whole number from 1 to ${max}, written in digits.`);
};

/** Text of others, such as an order id, without the characters that control a terminal. */
export const plain = (text: string): string => text.replaceAll(/\p{Cc}/gu, '?');

/** @throws UsageError unless the token is a test token */
export const refuseLive = ({ client }: Cli, what: string): void => {
  if (client.mode === 'live')
    throw new UsageError(`${what} is for test tokens only: use one that begins with svc_test_.`);
};

export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
