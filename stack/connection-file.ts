import { writeAtomically } from './files.ts';

/** Everything a script or an application on this machine needs to use the running stack. */
export interface ConnectionFacts {
  api_base_url: string;
  application: string;
  token: string;
  webhook_secret: string;
  shop_url: string;
  temporal_address: string;
  temporal_namespace: string;
  /** Null where Temporal is not ours. */
  temporal_ui_url: string | null;
  database_url: string;
  /** Health and metrics: /livez, /readyz, /metrics. */
  api_metrics_url: string;
  worker_metrics_url: string;
  /** Of the stack: the file outlives it. */
  pid: number;
}

export const writeConnection = (path: string, facts: ConnectionFacts): void =>
  writeAtomically(path, `${JSON.stringify(facts, undefined, 2)}\n`);
