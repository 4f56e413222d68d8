/** The Temporal header that carries the trace id. Open workflows hold it, so a release cannot rename it. */
export const traceHeader = 'trace_id';

const traceparent = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}/;

/**
 * The trace id of a `traceparent` header, or undefined if it is absent or invalid, which restarts the
 * trace. Versions after 00 may have more fields after another dash. Source: W3C Trace Context, section 3.2.
 */
export const parseTraceId = (header: string | undefined): string | undefined => {
  const [whole = '', traceId] = traceparent.exec(header ?? '') ?? [];
  const rest = header?.slice(whole.length) ?? '';
  const isValid = rest === '' || (rest.startsWith('-') && !whole.startsWith('00'));
  return isValid ? traceId : undefined;
};
