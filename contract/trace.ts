/** The Temporal header that carries the trace id. Open workflows hold it, so a release cannot rename it. */
export const traceHeader = 'trace_id';

const pattern =
  /^(?<version>(?!ff)[0-9a-f]{2})-(?<ids>(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<rest>-.*)?$/;
/** Sampled, and random (Level 2). A sender sets the others to zero. */
const knownFlags = 0b11;

/**
 * A `traceparent` header as it is sent on, of 55 characters: undefined if it is absent or invalid, which restarts the trace.
 * Versions after 00 may have more after another dash, and are sent on as 00. Source: W3C Trace Context, section 3.2.
 */
export const parseTraceparent = (header: string | undefined): string | undefined => {
  const { version, ids, flags = '', rest } = pattern.exec(header ?? '')?.groups ?? {};
  if (version === undefined || (version === '00' && rest !== undefined)) return undefined;
  const known = Number.parseInt(flags, 16) & knownFlags;
  return `00-${ids}-0${known}`;
};

export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35);
