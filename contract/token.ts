/** The modes of an access token. A test token has payments of its own, at sandbox gateways only. */
export const tokenModes = ['live', 'test'] as const;
export type TokenMode = (typeof tokenModes)[number];

/**
 * The rights of a token: to read everything of its application and mode, to create and verify payments, to have events
 * and samples sent, to give money back, and to make links that anybody can pay.
 */
export const tokenScopes = ['read', 'create', 'replay', 'refund', 'link'] as const;
export type TokenScope = (typeof tokenScopes)[number];

/** The rights of a token that was given no others. It moves no money back. */
export const defaultTokenScopes: readonly TokenScope[] = ['read', 'create', 'replay'];
