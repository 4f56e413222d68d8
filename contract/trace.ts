/** The header that carries the trace through the engine. For ever: open workflows hold it. */
export const traceHeader = 'trace_id';

const traceparent = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}/;

/**
 * The trace id of a `traceparent` header; undefined where it is absent or not valid, which restarts
 * the trace. Source: W3C Trace Context, 3.2. Versions after 00 may go on after another dash.
 */
export const traceIdOf = (header: string | undefined): string | undefined => {
  const [whole = '', traceId] = traceparent.exec(header ?? '') ?? [];
  const rest = header?.slice(whole.length) ?? '';
  const isWhole = rest === '' || (rest.startsWith('-') && !whole.startsWith('00'));
  return isWhole ? traceId : undefined;
};
