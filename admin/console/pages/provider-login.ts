import { ownPath } from '../begun-login.ts';
import { callbackPath, type ProvedAccount, ProviderFailure } from '../identity-provider.ts';
import type { ConsoleRequest, ConsoleResponse, Deps, Route } from '../request.ts';
import { refusedLogin, spentLogin } from './login.ts';

/** Logs in through the identity provider of the settings. Without one there are no routes. */
export const providerLoginRoutes = (deps: Deps): Route[] => {
  const { identityProvider: provider, begunLogins, logins, operationsOf } = deps;
  if (!provider) return [];

  const begin = async ({ query }: ConsoleRequest): Promise<ConsoleResponse> => {
    const begunLogin = begunLogins.begin(ownPath(query.get('back')));
    return { kind: 'redirect', to: await provider.loginUrl(begunLogin), begunLogin };
  };

  const end = async ({ query, begunLogin, secret }: ConsoleRequest): Promise<ConsoleResponse> => {
    const login = begunLogin === undefined ? undefined : await begunLogins.end(begunLogin);
    if (begunLogin === undefined || !login) return spentLogin();
    const account = await provider.getAccount(begunLogin, query);
    const found = await findPerson(deps, account);
    if (found.problem !== undefined)
      return refusedLogin('The console does not know you', found.problem, 403);
    const session = await operationsOf(found.name).console.logIn('provider', (to) =>
      to.openProviderSession(account, account.provedAt),
    );
    if (session === undefined) return spentLogin();
    if (secret !== undefined) await logins.endSession(secret);
    return { kind: 'redirect', to: login.back, session };
  };

  return [
    { method: 'GET', path: '/login/provider', role: 'anyone', handle: orExplain(begin) },
    {
      method: 'GET',
      path: callbackPath,
      role: 'anyone',
      endsLogin: 'provider',
      handle: orExplain(end),
    },
  ];
};

/** The person of an account. The first login with a person's verified address binds the account to the person. */
const findPerson = async (
  { people, operationsOf }: Deps,
  account: ProvedAccount,
): Promise<{ name: string; problem?: never } | { problem: string }> => {
  const { issuer, subject } = account;
  const known = await people.getByAccount({ issuer, subject });
  if (known) return known;
  let person = await people.getBySubject(subject);
  if (!person) {
    const email = await account.getVerifiedEmail();
    if (email === undefined)
      return { problem: 'Your provider does not say that it has verified your e-mail address.' };
    person = await people.getByEmail(email);
  }
  if (!person) return { problem: 'Nobody has let in your account. An admin can do it.' };
  await operationsOf(person.name).console.bindAccount(person.name, { issuer, subject });
  return person;
};

type Handle = (request: ConsoleRequest) => Promise<ConsoleResponse>;

const orExplain =
  (handle: Handle): Handle =>
  async (request) => {
    try {
      return await handle(request);
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error;
      return error.isUnavailable
        ? refusedLogin(
            'The identity provider is unavailable',
            'It did not answer in time, or not as a provider does. Try again in a moment.',
            502,
          )
        : refusedLogin(
            'The login is refused',
            'The identity provider did not confirm it, or its answer belongs to another login. The log of the console has the reason.',
            403,
          );
    }
  };
