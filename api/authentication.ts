import type { ErrorCode } from '../contract/errors.ts';
import { PaymentError } from '../contract/errors.ts';
import type { Owner } from '../postgres/payments.ts';
import type { Budget, Caller, Tokens } from '../postgres/tokens.ts';
import type { Logger } from '../process.ts';
import type { AddressLimiter } from './address-limiter.ts';

export interface Deps {
  tokens: Pick<Tokens, 'authenticate'>;
  /** Counts failures: a valid token passes from any address. */
  failures: AddressLimiter;
  logger: Pick<Logger, 'warn'>;
}

export interface Credentials {
  authorization: string;
  /** Of the client. */
  address: string;
  /** Told whose budget it is as soon as the token is known, also where the caller is refused. */
  tell: (budget: Budget) => void;
}

const tokenPattern = /^svc_(?:live|test)_[0-9A-Za-z]{43}$/;

/** Who calls. @throws PaymentError UNAUTHENTICATED, INVALID_TOKEN, APPLICATION_DISABLED, RATE_LIMITED */
export const createAuthenticate = ({ tokens, failures, logger }: Deps) => {
  const failure = (address: string, code: ErrorCode, message?: string) => {
    const retryAfter = failures.hit(address);
    return retryAfter === undefined ? new PaymentError(code, message) : tooMany(retryAfter);
  };

  return async ({ authorization, address, tell }: Credentials): Promise<Caller> => {
    const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
    // The prefix only, and only of what looks like a token of ours.
    const prefix = token === undefined ? 'none' : 'malformed';
    const isToken = token !== undefined && tokenPattern.test(token);
    const caller = isToken ? await tokens.authenticate(token) : undefined;
    if (caller) tell(caller.budget);
    if (caller && !caller.disabled) return caller;

    logger.warn({ token_prefix: isToken ? token.slice(0, 13) : prefix }, 'Authentication failed');
    if (caller) throw failure(address, 'APPLICATION_DISABLED');
    throw token === undefined
      ? failure(address, 'UNAUTHENTICATED', 'Send the header Authorization: Bearer <token>.')
      : failure(address, 'INVALID_TOKEN');
  };
};
export type Authenticate = ReturnType<typeof createAuthenticate>;

/** Whose payments a caller's are, and which of them the token may see. */
export const ownerOf = ({ application, mode }: Caller): Owner => ({
  application,
  test: mode === 'test',
});

/** @param retryAfter seconds */
export const tooMany = (retryAfter: number): PaymentError =>
  new PaymentError('RATE_LIMITED', `Too many requests, try again in ${retryAfter} seconds.`, {
    details: { retry_after: retryAfter },
  });
