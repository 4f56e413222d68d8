import { errors } from 'undici';
import type { ErrorClass } from '../contract/attempt.ts';

export interface Failure {
  errorClass: ErrorClass;
  /** For admins. Without addresses, which may be internal. */
  error: string;
}

/** A failure that is classified where it happens. */
export class AttemptError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure, options?: ErrorOptions) {
    super(failure.error, options);
    this.failure = failure;
  }
}

const connectCodes = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'EACCES',
  'EPERM',
  // Only if `lacksIpv6`. Otherwise the fault is ours.
  'EADDRNOTAVAIL',
]);
const resetCodes = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET']);
const timeoutCodes = new Set(['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT']);

/** Not the receiver's fault: the activity repeats the attempt under the same number. */
const ourOwnCodes = new Set([
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'EADDRNOTAVAIL',
  'UND_ERR_DESTROYED',
  'UND_ERR_CLOSED',
  'UND_ERR_INVALID_ARG',
]);

/** Node's codes, and those of OpenSSL for X.509. */
const tlsCodes =
  /^(ERR_(TLS|SSL|OSSL)|EPROTO|CERT_|CRL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERROR_IN_|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED|UNSPECIFIED)/;

const tlsReasons: Record<string, string> = {
  CERT_HAS_EXPIRED: 'The certificate has expired',
  CERT_NOT_YET_VALID: 'The certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate chain ends in an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'The certificate chain is incomplete: the receiver must send its intermediate certificates',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate comes from an unknown authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another host name',
};

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** The receiver has IPv6 only and this machine has none: repeating the attempt would never end. */
const lacksIpv6 = (error: unknown): boolean =>
  codeOf(error) === 'EADDRNOTAVAIL' &&
  error instanceof Error &&
  'address' in error &&
  String(error.address).includes(':');

const isOurs = (error: unknown): boolean => {
  // It may have no code, but the receiver caused it.
  if (error instanceof errors.HTTPParserError) return false;
  const code = codeOf(error);
  return code === '' || (ourOwnCodes.has(code) && !lacksIpv6(error));
};

/** @throws `thrown` itself if the fault is ours and not the receiver's */
export const failureOf = (thrown: unknown): Failure => {
  if (thrown instanceof AttemptError) return thrown.failure;
  // One error for each address that was tried. One fault of the receiver is enough.
  const all: unknown[] = thrown instanceof AggregateError ? thrown.errors : [thrown];
  const error = all.find((each) => !isOurs(each));
  if (error === undefined) throw thrown;
  const code = codeOf(error);
  if (connectCodes.has(code))
    return { errorClass: 'connect', error: `No connection could be made: ${code}` };
  if (timeoutCodes.has(code)) return { errorClass: 'timeout', error: 'The connection timed out' };
  if (resetCodes.has(code)) return { errorClass: 'reset', error: 'The connection broke off' };
  if (tlsCodes.test(code))
    return { errorClass: 'tls', error: `${tlsReasons[code] ?? 'TLS failed'} (${code})` };
  if (error instanceof errors.HeadersOverflowError)
    return { errorClass: 'protocol', error: 'The headers of the response are too large' };
  const detail = code && `: ${code}`;
  return { errorClass: 'protocol', error: `The response is not valid HTTP${detail}` };
};
