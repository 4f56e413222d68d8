import { ownPath } from '../attempt.ts';
import { createPasskeys } from '../passkeys.ts';
import type { ConsoleRequest, ConsoleResponse, Deps, Route } from '../request.ts';
import { refusedLogin, spentAttempt, tooManyAttempts } from './login.ts';

export const passkeyLoginRoutes = ({ baseUrl, logins, passkeys: stored }: Deps): Route[] => {
  const passkeys = createPasskeys(baseUrl);

  const begin = async ({ form }: ConsoleRequest): Promise<ConsoleResponse> => {
    const attempt = await logins.beginAttempt(ownPath(form.get('back')));
    if (attempt === undefined) return tooManyAttempts();
    return { kind: 'data', data: await passkeys.optionsToLogIn(attempt), attempt };
  };

  const end = async ({ form, attempt, secret }: ConsoleRequest): Promise<ConsoleResponse> => {
    const begun = attempt === undefined ? undefined : await logins.endAttempt(attempt);
    if (attempt === undefined || !begun) return spentAttempt();
    const answer = form.get('response') ?? '';
    const use = await passkeys.verifyUse(attempt, answer, stored.get);
    if (!use || !(await stored.recordUse(use.passkey, use.counter)))
      return refusedLogin(
        'The passkey is refused',
        'The console does not know it, or its answer is not valid.',
        403,
      );
    const proof = { via: 'passkey', provedAt: new Date() } as const;
    const session = await logins.openProvedSession(use.passkey.name, proof);
    if (secret !== undefined) await logins.endSession(secret);
    return { kind: 'redirect', to: begun.back, session };
  };

  return [
    { method: 'POST', path: '/login/passkey/options', role: 'anyone', handle: begin },
    { method: 'POST', path: '/login/passkey', role: 'anyone', handle: end },
  ];
};
