import { readFileSync } from 'node:fs';
import { z } from 'zod';

const base = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''));

const connectionSchema = z.object({
  api_base_url: base,
  token: z.string().min(1),
  webhook_secret: z.string().min(1),
  shop_url: base,
  temporal_ui_url: z.string().nullish(),
  temporal_namespace: z.string().nullish(),
});

/** What an application needs to know of the service. */
export interface Connection {
  apiBaseUrl: string;
  token: string;
  webhookSecret: string;
  shopUrl: string;
  /** Of one payment's workflow, for the curious; null when there is no web UI. */
  workflowUrlOf: (paymentId: string) => string | null;
}

/** Something to tell in one sentence, without a stack. */
export class DemoError extends Error {}

/** @throws DemoError when the file is missing or does not say what is needed */
export const readConnection = (path: string): Connection => {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    throw new DemoError(`${path} cannot be read: is the stack running (npm start)?`);
  }
  const parsed = connectionSchema.safeParse(content);
  // Names only: the values are secrets.
  if (!parsed.success) {
    const names = parsed.error.issues.map((issue) => issue.path.join('.')).join(', ');
    throw new DemoError(`${path} does not describe a running stack; wrong or missing: ${names}.`);
  }
  const { temporal_ui_url: uiUrl, temporal_namespace: namespace } = parsed.data;
  return {
    apiBaseUrl: parsed.data.api_base_url,
    token: parsed.data.token,
    webhookSecret: parsed.data.webhook_secret,
    shopUrl: parsed.data.shop_url,
    workflowUrlOf: (paymentId) =>
      uiUrl
        ? `${uiUrl}/namespaces/${namespace ?? 'default'}/workflows/${encodeURIComponent(paymentId)}`
        : null,
  };
};
