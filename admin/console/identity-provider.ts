import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import {
  allowInsecureRequests,
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientError,
  ClientSecretBasic,
  type Configuration,
  customFetch,
  type CustomFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { Agent, fetch } from 'undici';
import { isLocalhost } from '../../contract/localhost.ts';
import type { Logger } from '../../telemetry/log.ts';
import { deriveFrom } from './begun-login.ts';

export interface Settings {
  issuer: URL;
  clientId: string;
  clientSecret: string;
  /** The address of the console. */
  baseUrl: string;
  logger: Pick<Logger, 'info'>;
}

/** An account at the identity provider whose owner has just logged in there. */
export interface ProvedAccount {
  issuer: string;
  subject: string;
  /** When the provider asked for the person; null if it does not say. */
  provedAt: Date | null;
  /** In lower case. Undefined if the provider did not verify the address. */
  getVerifiedEmail: () => Promise<string | undefined>;
}

/** The identity provider is unavailable, or it refused the login. */
export class ProviderFailure extends Error {
  readonly isUnavailable: boolean;

  constructor(isUnavailable: boolean) {
    super(
      isUnavailable
        ? 'The identity provider is unavailable'
        : 'The identity provider refused the login',
    );
    this.isUnavailable = isUnavailable;
  }
}

const timeoutSeconds = 5;
/** The provider asks for the person again unless it has done so within this time. */
const maxAgeSeconds = 300;
export const callbackPath = '/login/provider/callback';

/** The system may ask name servers for `localhost`, and the client's secret would go in the clear wherever they say. */
const lookupHere: LookupFunction = (host, options, callback) => {
  if (!isLocalhost(host)) lookup(host, options, callback);
  else if (!options.all) callback(null, '127.0.0.1', 4);
  else
    callback(null, [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
};
const dispatcher = new Agent({ connect: { lookup: lookupHere } });
const fetchHere: CustomFetch = async (url, { body, signal = null, ...options }) => {
  // The library sends no other kind of body.
  const form = body instanceof URLSearchParams ? body : null;
  const init = { ...options, body: form, signal, dispatcher };
  const response = await fetch(url, init);
  // The library takes the responses of Node's own fetch alone.
  return new Response(await response.text(), {
    status: response.status,
    headers: [...response.headers],
  });
};

/** Logs people in by OpenID Connect: authorization code with PKCE, state and nonce. */
export const createIdentityProvider = ({
  issuer,
  clientId,
  clientSecret,
  baseUrl,
  logger,
}: Settings) => {
  const redirectUri = `${baseUrl}${callbackPath}`;
  const isHere = issuer.protocol === 'http:';
  let discovered: Promise<Configuration> | undefined;

  /** Once, until something fails: the provider may have other keys and addresses then. */
  const discover = (): Promise<Configuration> =>
    (discovered ??= discovery(issuer, clientId, undefined, ClientSecretBasic(clientSecret), {
      timeout: timeoutSeconds,
      execute: [
        enableNonRepudiationChecks,
        // The settings allow http on this machine only.
        ...(isHere ? [allowInsecureRequests] : []),
      ],
      ...(isHere && { [customFetch]: fetchHere }),
    }));

  const ask = async <T>(question: (config: Configuration) => Promise<T>): Promise<T> => {
    try {
      return await question(await discover());
    } catch (error) {
      discovered = undefined;
      // Neither message nor cause: they may hold codes and tokens.
      const facts = describeFailure(error);
      logger.info({ issuer: issuer.href, ...facts }, 'A login at the identity provider failed');
      throw new ProviderFailure(facts.isUnavailable);
    }
  };

  return {
    /** For people. */
    name: issuer.host,

    /** @returns the address at the provider at which the login that has this secret begins */
    loginUrl: (secret: string): Promise<string> =>
      ask(async (config) => {
        const challenge = await calculatePKCECodeChallenge(deriveFrom(secret, 'verifier'));
        return buildAuthorizationUrl(config, {
          redirect_uri: redirectUri,
          scope: 'openid email',
          state: deriveFrom(secret, 'state'),
          nonce: deriveFrom(secret, 'nonce'),
          code_challenge: challenge,
          code_challenge_method: 'S256',
          max_age: String(maxAgeSeconds),
        }).href;
      }),

    /** Reads the query with which the provider sent the browser back. @throws ProviderFailure */
    getAccount: (secret: string, query: URLSearchParams): Promise<ProvedAccount> =>
      ask(async (config) => {
        const tokens = await authorizationCodeGrant(
          config,
          new URL(`${redirectUri}?${query.toString()}`),
          {
            expectedState: deriveFrom(secret, 'state'),
            expectedNonce: deriveFrom(secret, 'nonce'),
            pkceCodeVerifier: deriveFrom(secret, 'verifier'),
            idTokenExpected: true,
          },
        );
        const claims = tokens.claims();
        if (!claims) throw new Error('The provider sent no id token');
        const { iss, sub, auth_time: authTime } = claims;
        return {
          issuer: iss,
          subject: sub,
          provedAt: authTime === undefined ? null : new Date(authTime * 1000),
          getVerifiedEmail: async () =>
            verifiedEmailIn(claims) ??
            verifiedEmailIn(await ask(() => fetchUserInfo(config, tokens.access_token, sub))),
        };
      }),
  };
};
export type IdentityProvider = ReturnType<typeof createIdentityProvider>;

const verifiedEmailIn = ({
  email,
  email_verified: isVerified,
}: Readonly<Record<string, unknown>>): string | undefined =>
  // Beyond ASCII, different letters may have the same small one: the Kelvin sign becomes a k.
  isVerified === true && typeof email === 'string' && /^[!-~]+$/.test(email)
    ? email.toLowerCase()
    : undefined;

/** Error codes for a response that did not come from a working provider. */
const unavailableCodes = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
]);

const describeFailure = (error: unknown): { isUnavailable: boolean; code: string | undefined } => {
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError)
    return { isUnavailable: false, code: error.error.slice(0, 100) };
  if (error instanceof WWWAuthenticateChallengeError)
    return { isUnavailable: false, code: error.code };
  if (error instanceof ClientError)
    return { isUnavailable: unavailableCodes.has(error.code ?? ''), code: error.code };
  // fetch rejects with a TypeError if there is no connection.
  return { isUnavailable: error instanceof TypeError, code: undefined };
};
