import { ownPath } from '../begun-login.ts';
import { createPasskeys } from '../passkeys.ts';
import type { ConsoleRequest, ConsoleResponse, Deps, Route } from '../request.ts';
import { refusedLogin, spentLogin } from './login.ts';

export const passkeyLoginRoutes = ({
  baseUrl,
  begunLogins,
  logins,
  operationsOf,
  passkeys: stored,
}: Deps): Route[] => {
  const passkeys = createPasskeys(baseUrl);

  const begin = async ({ form }: ConsoleRequest): Promise<ConsoleResponse> => {
    const begunLogin = begunLogins.begin(ownPath(form.get('back')));
    return { kind: 'data', data: await passkeys.optionsToLogIn(begunLogin), begunLogin };
  };

  const end = async ({ form, begunLogin, secret }: ConsoleRequest): Promise<ConsoleResponse> => {
    const login = begunLogin === undefined ? undefined : await begunLogins.end(begunLogin);
    if (begunLogin === undefined || !login) return spentLogin();
    const answer = form.get('response') ?? '';
    const use = await passkeys.verifyUse(begunLogin, answer, stored.get);
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
    return { kind: 'redirect', to: login.back, session };
  };

  return [
    { method: 'POST', path: '/login/passkey/options', role: 'anyone', handle: begin },
    { method: 'POST', path: '/login/passkey', role: 'anyone', endsLogin: 'passkey', handle: end },
  ];
};
