import { tokenScopes } from '../../../contract/token.ts';
import type { Caller } from '../../../postgres/applications/tokens.ts';

/** The caller of a test token of the application `shop`, with this many requests in this minute. */
export const aCaller = (used = 1): Caller => ({
  token: '3f1c9a0b2d4e5f60',
  application: 'shop',
  disabled: false,
  mode: 'test',
  scopes: tokenScopes,
  callbackUrls: [],
  webhookUrl: null,
  ordersPaidOnce: false,
  fallbackGateways: [],
  allowedGateways: [],
  defaultGateway: { slug: 'sandbox', driver: 'sandbox', kind: 'sandbox', enabled: true },
  budget: { perMinute: 120, used, secondsLeft: 30 },
});
