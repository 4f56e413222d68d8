import type { BrowserRequest } from '../../../api/http/error-response.ts';

/** A request of a payer's browser. */
export const aBrowser = ({
  acceptLanguage,
  query = '',
}: { acceptLanguage?: string; query?: string } = {}): BrowserRequest => ({
  header: (name) => (name === 'accept-language' ? acceptLanguage : undefined),
  search: () => new URLSearchParams(query),
});
