import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { writeAtomically } from './data-folder.ts';

/** Everything that a script or an application on this machine needs to use the running stack. */
export interface ConnectionFile {
  api_base_url: string;
  application: string;
  token: string;
  webhook_secret: string;
  shop_url: string;
  console_url: string;
  /** The shop's mailbox takes the mails of the service here. */
  smtp_port: number;
  temporal_address: string;
  temporal_namespace: string;
  /** Null for a Temporal server of the user's own. */
  temporal_ui_url: string | null;
  database_url: string;
  /** Health and metrics: /livez, /readyz, /metrics. */
  api_metrics_url: string;
  worker_metrics_url: string;
  /** Of the stack. The file outlives it. */
  pid: number;
}

export const writeConnection = (path: string, content: ConnectionFile): void =>
  writeAtomically(path, `${JSON.stringify(content, undefined, 2)}\n`);

/** The demo application's credentials. No other file holds them. */
const Credentials = z.object({ token: z.string(), webhook_secret: z.string() });
export type Credentials = z.infer<typeof Credentials>;

/** The credentials that an earlier start wrote. */
export const readCredentials = (path: string): Credentials | undefined => {
  try {
    return Credentials.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
};
