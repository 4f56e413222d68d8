import { readFileSync } from 'node:fs';
import { z } from 'zod';

const base = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''));

const connectionSchema = z.object({
  api_base_url: base,
  token: z.string().min(1),
  webhook_secret: z.string().min(1),
  shop_url: base,
  smtp_port: z.number().int().optional(),
  temporal_ui_url: z.string().nullish(),
  temporal_namespace: z.string().nullish(),
});

/** The facts about the service that an application needs. */
export interface Connection {
  apiBaseUrl: string;
  token: string;
  webhookSecret: string;
  shopUrl: string;
  /** The port to which the service sends its mails; undefined: it sends none. */
  smtpPort: number | undefined;
  /** The page of a payment's workflow; null without a web UI. */
  workflowUrl: (paymentId: string) => string | null;
}

/** A failure that one sentence explains. */
export class DemoError extends Error {}

/** @throws DemoError when the file is missing or incomplete */
export const readConnection = (path: string): Connection => {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    throw new DemoError(`${path} cannot be read: is the stack running (npm start)?`);
  }
  const { data, error } = connectionSchema.safeParse(content);
  // Names only: the values are secrets.
  if (error) {
    const names = error.issues.map(({ path: name }) => name.join('.')).join(', ');
    throw new DemoError(`${path} does not describe a running stack; wrong or missing: ${names}.`);
  }
  const { temporal_ui_url: uiUrl, temporal_namespace: namespace } = data;
  return {
    apiBaseUrl: data.api_base_url,
    token: data.token,
    webhookSecret: data.webhook_secret,
    shopUrl: data.shop_url,
    smtpPort: data.smtp_port,
    workflowUrl: (paymentId) =>
      uiUrl
        ? `${uiUrl}/namespaces/${namespace ?? 'default'}/workflows/${encodeURIComponent(paymentId)}`
        : null,
  };
};
