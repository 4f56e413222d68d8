import type { Caller } from '../../postgres/tokens.ts';

/** Who calls with a test token of the application `shop`, so often in this minute. */
export const aCaller = (used = 1): Caller => ({
  application: 'shop',
  disabled: false,
  mode: 'test',
  callbackUrls: [],
  webhookUrl: null,
  defaultGateway: { slug: 'sandbox', driver: 'sandbox', kind: 'sandbox', enabled: true },
  budget: { perMinute: 120, used, secondsLeft: 30 },
});
