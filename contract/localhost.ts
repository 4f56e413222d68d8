/** RFC 6761: these names are always this machine, and no name server is asked for them. */
export const isLocalhost = (host: string): boolean => /^(.+\.)?localhost\.?$/i.test(host);
