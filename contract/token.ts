/** The modes of an access token. A test token has payments of its own, at sandbox gateways only. */
export const tokenModes = ['live', 'test'] as const;
export type TokenMode = (typeof tokenModes)[number];

/**
 * What a token may do: read everything of its application and mode; create and verify payments; have events and samples
 * sent again. A token has every scope by default. A scope that moves money out would have to be given.
 */
export const tokenScopes = ['read', 'create', 'replay'] as const;
export type TokenScope = (typeof tokenScopes)[number];
