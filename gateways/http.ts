import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import { Agent, errors, request } from 'undici';
import { version } from '../contract/version.ts';
import type { Call, CallGateway, Target, TlsSettings } from './call.ts';
import { parseJson } from './call.ts';
import { AccountProblem, GatewayUnavailable } from './errors.ts';

/** For one connection, one call, and all calls of one try. */
export const gatewayLimits = { connectMs: 3_000, callMs: 10_000, tryMs: 20_000 } as const;
/**
 * For the calls of an opening while another gateway may be asked after this one, and at the last of several. Five take
 * 22 of the 25 s of the activity.
 */
export const openingLimits = { tryMs: 3_000, lastTryMs: 10_000 } as const;
/** About 8,000 payments of a settlement at Zibal. */
const maxResponseBytes = 2 * 1024 ** 2;

export interface HttpOptions {
  dispatcherOf: (tls?: TlsSettings) => Dispatcher;
  allowLoopback: boolean;
  callMs?: number;
  tryMs?: number;
}

/**
 * One dispatcher for all gateways, and one for each other TLS setting: a weaker one is for its provider alone.
 * @param options.lookup resolves host names; the default is the system's, which has four threads
 */
export const createGatewayDispatchers = (options: { lookup?: LookupFunction } = {}) => {
  const agents = new Map<string, Agent>();
  return {
    dispatcherOf(tls: TlsSettings = {}): Dispatcher {
      const key = JSON.stringify(tls);
      const agent = agents.get(key) ?? createAgent({ ...options, ...tls });
      agents.set(key, agent);
      return agent;
    },
    async destroy() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()));
    },
  };
};

/**
 * Ignores proxies of the environment, follows no redirect and decompresses nothing. HTTP/2 is off: all
 * calls would share one connection, and all would hang when it is dead.
 */
const createAgent = (options: TlsSettings & { lookup?: LookupFunction }): Agent =>
  new Agent({
    connect: {
      ...options,
      timeout: gatewayLimits.connectMs,
      autoSelectFamilyAttemptTimeout: gatewayLimits.connectMs / 3,
    },
    allowH2: false,
    connections: 250,
    maxResponseSize: maxResponseBytes,
    // The deadline of the call covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
  });

/** Starts the time of one try. @returns the function that makes its calls */
export const beginTry = ({
  dispatcherOf,
  allowLoopback,
  callMs = gatewayLimits.callMs,
  tryMs = gatewayLimits.tryMs,
}: HttpOptions) => {
  const tryDeadline = AbortSignal.timeout(tryMs);
  return (target: Target): CallGateway => {
    const origin = originOf(target, allowLoopback);
    return async (call) => {
      const { operation, method, path, expectedStatuses = [] } = call;
      const unavailable = (why: string) =>
        new GatewayUnavailable(`${target.provider}, ${operation}: ${why}`);
      const signal = AbortSignal.any([tryDeadline, AbortSignal.timeout(callMs)]);
      try {
        const { statusCode: status, body } = await request(`${origin}${path}`, {
          method,
          dispatcher: dispatcherOf(target.tls),
          signal,
          ...encode(call),
        });
        const text = await body.text();
        if (saysNothing(status) && !expectedStatuses.includes(status))
          throw unavailable(`HTTP ${status}`);
        return { status, body: parseJson(text) };
      } catch (error) {
        if (error instanceof GatewayUnavailable) throw error;
        if (signal.aborted) {
          const limitMs = tryDeadline.aborted ? tryMs : callMs;
          throw unavailable(`no response within ${limitMs / 1_000} s`);
        }
        if (error instanceof errors.HTTPParserError) throw unavailable('the response is not HTTP');
        // The code only: the message may hold an address.
        const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
        if (code === undefined || code === 'UND_ERR_INVALID_ARG') throw error;
        throw unavailable(`no complete response (${code})`);
      }
    };
  };
};

/** A redirect, an overloaded or a failing server: such a response says nothing about the payment. */
const saysNothing = (status: number): boolean =>
  (status >= 300 && status < 400) || status === 408 || status === 429 || status >= 500;

const encode = ({ headers, json, form }: Call) => {
  const common = { accept: 'application/json', 'user-agent': `payments/${version}` };
  if (json !== undefined)
    return {
      headers: { ...common, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(json),
    };
  if (form)
    return {
      headers: { ...common, 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams(form).toString(),
    };
  return { headers: { ...common, ...headers } };
};

const loopbackHosts = new Set(['127.0.0.1', '[::1]', 'localhost']);

const originOf = ({ baseUrl, override }: Target, allowLoopback: boolean): string => {
  if (override === undefined) return baseUrl;
  const url = URL.parse(override);
  if (!allowLoopback || !url || !loopbackHosts.has(url.hostname) || url.protocol !== 'http:')
    throw new AccountProblem('A base URL other than the provider’s is allowed on loopback only');
  return url.origin;
};
