import type { StackConfig } from '../config.ts';
import type { ConnectionFacts } from '../stack/connection-file.ts';
import type { createSetup } from './application.ts';
import type { Bare } from './bare.ts';
import type { Figure } from './figure.ts';
import type { Http } from './http.ts';
import type { BenchPayments } from './payments.ts';
import type { Pids } from './processes.ts';
import type { Receiver } from './receiver.ts';

export interface PayersOptions {
  /** Of their application, which is made; no other has it. */
  slug: string;
  receiver: Pick<Receiver, 'url' | 'arrival'>;
  /** A Stripe account's; without them they pay on the sandbox. */
  credentials?: string;
}

/** A running stack, with what measures it. */
export interface Bench {
  config: StackConfig;
  facts: ConnectionFacts;
  http: Http;
  pids: Pids;
  barePids: Pids;
  bare: Bare;
  sql: ReturnType<typeof createSetup>['sql'];
  /** A new application and its payers. */
  payers: (options: PayersOptions) => Promise<BenchPayments>;
  /** Takes down what a group has started, at the end or in the middle. */
  cleanup: AsyncDisposableStack;
  signal: AbortSignal;
  folder: string;
  say: (line: string) => void;
}

/** Rows of the table that are measured together. */
export type Group = (bench: Bench) => Promise<Figure[]>;
