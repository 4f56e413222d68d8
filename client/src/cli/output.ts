import type { Payments } from '../client.ts';

export interface Flags {
  'forward-to'?: string;
  from?: string;
  'print-secret'?: boolean;
  order?: string;
  'minor-units'?: string;
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

const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Without the characters that control a terminal or reverse text: order ids and messages are texts of others. */
const plain = (text: string): string => text.replaceAll(/\r?\n/g, ' ').replaceAll(controls, '?');

/** Prints one line. */
export const print = (line: string): void => console.log(plain(line));
/** Prints one line to stderr. */
export const printError = (line: string): void => console.error(plain(line));

/** Prints JSON with all of its texts: what `print` replaces is escaped. */
export const printJson = (value: unknown, indent?: number): void => {
  const json = JSON.stringify(value, undefined, indent);
  console.log(
    // JSON has line ends only between its parts.
    json.replaceAll(controls, (found) =>
      found === '\n'
        ? found
        : found.replaceAll(
            /[^]/g,
            (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
          ),
    ),
  );
};

/** @throws UsageError unless the token is a test token */
export const refuseLive = ({ client }: Cli, what: string): void => {
  if (client.mode === 'live')
    throw new UsageError(`${what} is for test tokens only: use one that begins with svc_test_.`);
};

export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
