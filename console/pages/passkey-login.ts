import { ownPath } from '../attempt.ts';
import { createPasskeys } from '../passkeys.ts';
import type { ConsoleRequest, ConsoleResponse, Deps, Route } from '../request.ts';
import { refusedLogin, spentAttempt } from './login.ts';

export const passkeyLoginRoutes = ({
  baseUrl,
  attempts,
  logins,
  operationsOf,
  passkeys: stored,
}: Deps): Route[] => {
  const passkeys = createPasskeys(baseUrl);

  const begin = async ({ form }: ConsoleRequest): Promise<ConsoleResponse> => {
    const attempt = attempts.begin(ownPath(form.get('back')));
    return { kind: 'data', data: await passkeys.optionsToLogIn(attempt), attempt };
  };

  const end = async ({ form, attempt, secret }: ConsoleRequest): Promise<ConsoleResponse> => {
    const begun = attempt === undefined ? undefined : await attempts.end(attempt);
    if (attempt === undefined || !begun) return spentAttempt();
    const answer = form.get('response') ?? '';
    const use = await passkeys.verifyUse(attempt, answer, stored.get);
    const session =
      use &&
      (await operationsOf(use.passkey.name).console.logIn('passkey', (to) =>
        to.openPasskeySession(use.passkey, use.counter),
      ));
    if (session === undefined)
      return refusedLogin(
        'The passkey is refused',
        'The console does not know it, or its answer is not valid. If you have an account of the identity provider, log in there at least once a week.',
        403,
      );
    if (secret !== undefined) await logins.endSession(secret);
    return { kind: 'redirect', to: begun.back, session };
  };

  return [
    { method: 'POST', path: '/login/passkey/options', role: 'anyone', handle: begin },
    { method: 'POST', path: '/login/passkey', role: 'anyone', endsLogin: 'passkey', handle: end },
  ];
};
