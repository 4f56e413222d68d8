/** The modes of an access token. A test token has payments of its own, at sandbox gateways only. */
export const tokenModes = ['live', 'test'] as const;
export type TokenMode = (typeof tokenModes)[number];
