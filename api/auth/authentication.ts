import { PaymentError } from '../../contract/errors.ts';
import type { Budget, Caller, Tokens } from '../../postgres/applications/tokens.ts';
import type { Logger } from '../../telemetry/log.ts';
import { createAddressBulkhead } from '../http/address-bulkhead.ts';
import type { RateLimiter } from '../http/rate-limiter.ts';
import { rateLimited, RepeatedRateLimitError } from '../http/rate-limiter.ts';

export interface Deps {
  tokens: Pick<Tokens, 'authenticate'>;
  /** Counts failures only: a valid token works from any address. */
  failures: RateLimiter;
  logger: Pick<Logger, 'warn'>;
}

export interface Credentials {
  authorization: string;
  /** The client's address. */
  address: string;
  /** Called when the token is valid, even if the caller is rejected then. */
  onBudget: (budget: Budget) => void;
}

const tokenPattern = /^svc_(?:live|test)_[0-9A-Za-z]{43}$/;

/** @throws PaymentError UNAUTHENTICATED, INVALID_TOKEN, APPLICATION_DISABLED, RATE_LIMITED */
export const createAuthenticate = ({ tokens, failures, logger }: Deps) => {
  const bulkhead = createAddressBulkhead(failures);

  /** Counts and logs a failure. @returns the error to throw */
  const failed = (address: string, token_prefix: string, error: PaymentError): PaymentError => {
    const limitError = failures.hit(address);
    if (!limitError) logger.warn({ token_prefix }, 'Authentication failed');
    else if (!(limitError instanceof RepeatedRateLimitError))
      logger.warn(
        { token_prefix },
        'Authentication failed too often from this address; not logged again in this minute',
      );
    return limitError ?? error;
  };

  const findCaller = (token: string, address: string): Promise<Caller | undefined> =>
    bulkhead(address, {
      run: () => tokens.authenticate(token),
      // The token may be valid, so the client may try again soon.
      reject: () => failed(address, prefixOf(token), rateLimited(1)),
    });

  return async ({ authorization, address, onBudget }: Credentials): Promise<Caller> => {
    const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (token === undefined) throw failed(address, 'none', missingToken());
    if (!tokenPattern.test(token))
      throw failed(address, 'malformed', new PaymentError('INVALID_TOKEN'));
    const caller = await findCaller(token, address);
    if (caller) onBudget(caller.budget);
    if (caller && !caller.disabled) return caller;
    const code = caller ? 'APPLICATION_DISABLED' : 'INVALID_TOKEN';
    throw failed(address, prefixOf(token), new PaymentError(code));
  };
};
export type Authenticate = ReturnType<typeof createAuthenticate>;

/** The part of a well-formed token that may be logged. */
const prefixOf = (token: string) => token.slice(0, 13);

const missingToken = () =>
  new PaymentError('UNAUTHENTICATED', 'Send the header Authorization: Bearer <token>.');
