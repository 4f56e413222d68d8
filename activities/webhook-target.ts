const loopbackHosts = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * Whether a webhook may go to a URL: https, and where a setting allows it also plain HTTP to this
 * machine, for the embedded stack and the tests.
 */
export const createTargetRule =
  ({ allowLoopback }: { allowLoopback: boolean }) =>
  (url: string): boolean => {
    const { protocol, hostname } = new URL(url);
    if (loopbackHosts.has(hostname)) return allowLoopback;
    return protocol === 'https:';
  };
