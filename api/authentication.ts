import { PaymentError } from '../contract/errors.ts';
import type { Caller, Tokens } from '../postgres/tokens.ts';
import type { Logger } from '../process.ts';

export interface Deps {
  tokens: Pick<Tokens, 'authenticate'>;
  logger: Pick<Logger, 'warn'>;
}

const tokenPattern = /^svc_(?:live|test)_[0-9A-Za-z]{43}$/;

/** Who calls. @throws PaymentError UNAUTHENTICATED, INVALID_TOKEN, APPLICATION_DISABLED */
export const createAuthenticate =
  ({ tokens, logger }: Deps) =>
  async (authorization: string | undefined): Promise<Caller> => {
    const token = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (token === undefined)
      throw new PaymentError('UNAUTHENTICATED', 'Send the header Authorization: Bearer <token>.');
    const caller = tokenPattern.test(token) ? await tokens.authenticate(token) : undefined;
    if (!caller) {
      // The prefix only, and only of what looks like a token of ours.
      const prefix = tokenPattern.test(token) ? token.slice(0, 13) : 'malformed';
      logger.warn({ token_prefix: prefix }, 'Authentication failed');
      throw new PaymentError('INVALID_TOKEN', 'The token is unknown, revoked or expired.');
    }
    if (caller.disabled)
      throw new PaymentError('APPLICATION_DISABLED', 'The application was disabled by an admin.');
    return caller;
  };
export type Authenticate = ReturnType<typeof createAuthenticate>;
