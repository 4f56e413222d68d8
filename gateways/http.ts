import type { Dispatcher } from 'undici';
import { Agent, errors, request } from 'undici';
import type { CallGateway, Target } from './call.ts';
import { jsonIn } from './call.ts';
import { AccountProblem, GatewayUnavailable } from './gateway.ts';
import type { ResolveName } from './dns.ts';
import { createNameResolver, lookupBy } from './dns.ts';

/** Of a connection, of a call, and of all calls of one try. */
export const gatewayLimits = { connectMs: 3_000, callMs: 10_000, tryMs: 20_000 } as const;
const maxAnswerBytes = 256 * 1024;

export interface HttpOptions {
  dispatcher: Dispatcher;
  allowLoopback: boolean;
  callMs?: number;
  tryMs?: number;
}

const loopback = ['127.0.0.1', '::1'];

/**
 * Never through a proxy of the environment; no redirect is followed and nothing is decompressed. With
 * HTTP/2 all calls would share one connection, and be silent together when that one is dead.
 */
export const createGatewayDispatcher = (
  resolve: ResolveName = createNameResolver({ budgetMs: gatewayLimits.connectMs }),
): Agent =>
  new Agent({
    connect: {
      // RFC 6761: no name server is asked for this one.
      lookup: lookupBy(async (name) => (name === 'localhost' ? loopback : resolve(name))),
      timeout: gatewayLimits.connectMs,
      autoSelectFamilyAttemptTimeout: gatewayLimits.connectMs / 3,
    },
    allowH2: false,
    connections: 250,
    maxResponseSize: maxAnswerBytes,
    // The call's own deadline covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

/** Makes the calls of one try, whose time begins now. */
export const beginTry = ({
  dispatcher,
  allowLoopback,
  callMs = gatewayLimits.callMs,
  tryMs = gatewayLimits.tryMs,
}: HttpOptions) => {
  const whole = AbortSignal.timeout(tryMs);
  return (target: Target): CallGateway => {
    const { provider } = target;
    const origin = originOf(target, allowLoopback);
    return async ({ what, method, path, headers, json, form, meaningful = [] }) => {
      const silence = (why: string) => new GatewayUnavailable(`${provider}, ${what}: ${why}`);
      const signal = AbortSignal.any([whole, AbortSignal.timeout(callMs)]);
      try {
        const { statusCode: status, body } = await request(`${origin}${path}`, {
          method,
          dispatcher,
          signal,
          headers: { accept: 'application/json', ...typeOf(json, form), ...headers },
          ...(json !== undefined && { body: JSON.stringify(json) }),
          ...(form && { body: new URLSearchParams(form).toString() }),
        });
        const text = await body.text();
        const redirects = status >= 300 && status < 400;
        const empty = redirects || status === 408 || status === 429 || status >= 500;
        if (empty && !meaningful.includes(status)) throw silence(`it answered ${status}`);
        return { status, body: jsonIn(text) };
      } catch (error) {
        if (error instanceof GatewayUnavailable) throw error;
        if (signal.aborted) throw silence('it did not answer in time');
        if (error instanceof errors.HTTPParserError) throw silence('it did not answer in HTTP');
        // The code alone: a message may hold an address.
        const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
        if (code === undefined || code === 'UND_ERR_INVALID_ARG') throw error;
        throw silence(`it gave no whole answer (${code})`);
      }
    };
  };
};

const typeOf = (json: unknown, form: object | undefined): Record<string, string> => {
  if (json !== undefined) return { 'content-type': 'application/json' };
  return form ? { 'content-type': 'application/x-www-form-urlencoded' } : {};
};

const loopbackHosts = new Set(['127.0.0.1', '[::1]', 'localhost']);

const originOf = ({ baseUrl, override }: Target, allowLoopback: boolean): string => {
  if (override === undefined) return baseUrl;
  const url = URL.parse(override);
  if (!allowLoopback || !url || !loopbackHosts.has(url.hostname) || url.protocol !== 'http:')
    throw new AccountProblem('Another address than the provider’s own is allowed on loopback only');
  return url.origin;
};
