import { PaymentError } from '../../contract/errors.ts';
import type { Owner } from '../../postgres/payments.ts';
import type { Budget, Caller, Tokens } from '../../postgres/tokens.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { AddressLimiter } from '../http/address-limiter.ts';
import {
  createAddressSemaphore,
  RepeatedRateLimitError,
  rateLimited,
} from '../http/address-limiter.ts';

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
  const sparing = createAddressSemaphore(failures);

  const failure = (address: string, token_prefix: string, problem: PaymentError) => {
    const excess = failures.hit(address);
    if (!excess) logger.warn({ token_prefix }, 'Authentication failed');
    else if (!(excess instanceof RepeatedRateLimitError))
      logger.warn(
        { token_prefix },
        'Authentication failed, too often from this address: for the rest of its minute that is not logged',
      );
    return excess ?? problem;
  };

  const lookUp = (token: string, address: string): Promise<Caller | undefined> =>
    sparing(address, {
      work: () => tokens.authenticate(token),
      // Its minute may end just now; the token may be right.
      refuse: () => failure(address, prefixOf(token), rateLimited(1)),
    });

  return async ({ authorization, address, tell }: Credentials): Promise<Caller> => {
    const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
    if (token === undefined) throw failure(address, 'none', unauthenticated());
    if (!tokenPattern.test(token)) throw failure(address, 'malformed', invalid());
    const caller = await lookUp(token, address);
    if (caller) tell(caller.budget);
    if (caller && !caller.disabled) return caller;
    throw failure(address, prefixOf(token), caller ? disabled() : invalid());
  };
};
export type Authenticate = ReturnType<typeof createAuthenticate>;

/** Whose payments a caller's are, and which of them the token may see. */
export const ownerOf = ({ application, mode }: Caller): Owner => ({
  application,
  test: mode === 'test',
});

/** For the log: of nothing else than what looks like a token of ours. */
const prefixOf = (token: string) => token.slice(0, 13);

const unauthenticated = () =>
  new PaymentError('UNAUTHENTICATED', 'Send the header Authorization: Bearer <token>.');
const invalid = () => new PaymentError('INVALID_TOKEN');
const disabled = () => new PaymentError('APPLICATION_DISABLED');
