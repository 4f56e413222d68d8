import type { WebhookRequest } from '../../webhooks/request.ts';
import { post } from '../../webhooks/request.ts';

/** One attempt to deliver a small body, whatever else is wanted of it. */
export const attempt = (
  url: string,
  options: Pick<WebhookRequest, 'dispatcher'> & Partial<WebhookRequest>,
) =>
  post({
    url,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{}'),
    signal: new AbortController().signal,
    ...options,
  });
