/** The modes of an access token. A test token has payments of its own, at sandbox gateways only. */
export const tokenModes = ['live', 'test'] as const;
export type TokenMode = (typeof tokenModes)[number];

/**
 * The rights of a token: to read everything of its application and mode, to create and verify payments, and to have
 * events and samples sent. A token has all of them by default.
 */
export const tokenScopes = ['read', 'create', 'replay'] as const;
export type TokenScope = (typeof tokenScopes)[number];
