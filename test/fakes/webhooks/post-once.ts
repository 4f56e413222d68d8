import { createWebhookDispatcher } from '../../../webhooks/connector.ts';
import { post } from '../../../webhooks/request.ts';

/** Sends one webhook from a process of its own, whose environment the test sets. */
const dispatcher = createWebhookDispatcher({ allowLoopback: true, timeoutMs: 2_000 });
const result = await post({
  url: process.argv[2] ?? '',
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{}'),
  dispatcher,
  signal: new AbortController().signal,
});
console.log(JSON.stringify(result));
await dispatcher.destroy();
