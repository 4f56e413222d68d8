import { post, type WebhookRequest } from '../../../webhooks/request.ts';

/** Sends one webhook with a small body; `options` override the rest. */
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
