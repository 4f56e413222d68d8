import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { z } from 'zod';
import { SetupError } from './process.ts';

/** The environment variables. Only config.ts reads `process.env`. */
export type Environment = Record<string, string | undefined>;

/**
 * Reads each variable of `shape`, or the file that `NAME_FILE` names. Returns the parsed `values` (undefined
 * if any is invalid), the raw `texts`, and one line per problem.
 */
export const parseVariables = <S extends z.ZodRawShape>(shape: S, env: Environment) => {
  const problems: string[] = [];
  const texts = readTexts(env, Object.keys(shape), problems);
  const parsed = z.object(shape).safeParse(texts);
  const unreadable = new Set(problems.map((line) => line.slice(0, line.indexOf('_FILE'))));
  for (const { path, message } of parsed.error?.issues ?? []) {
    const name = String(path[0]);
    // The message only: the value may be a secret.
    if (!unreadable.has(name))
      problems.push(`${name}: ${texts[name] === undefined ? 'is missing' : message}`);
  }
  return { values: parsed.data, texts, problems };
};

/** Reports all problems at once, one line per variable. @throws SetupError */
export const requireValid = <T extends object>(
  values: T | undefined,
  problems: string[],
): Readonly<T> => {
  if (values && problems.length === 0) return Object.freeze(values);
  throw new SetupError(`The configuration is not valid:\n  ${problems.join('\n  ')}`);
};

/**
 * Reads the address, namespace, TLS settings and API key of Temporal from the SDK's own TEMPORAL_* variables.
 * The SDK's settings file counts only if TEMPORAL_CONFIG_FILE names it: a file in the home directory would
 * connect the embedded stack's processes to another server.
 */
export const readTemporalVariables = (env: Environment, problems: string[]) => {
  const secrets = readTexts(env, ['TEMPORAL_API_KEY'], problems);
  try {
    const { connectionOptions, namespace } = loadClientConnectConfig({
      overrideEnvVars: withoutUnset({ ...env, ...secrets }),
      disableFile: !env['TEMPORAL_CONFIG_FILE'],
    });
    return { connectionOptions, namespace: namespace ?? 'default' };
  } catch (error) {
    // The first line only: the others may quote the settings file.
    problems.push(`TEMPORAL_*: ${String(error).split('\n', 1)[0]}`);
    return undefined;
  }
};

const connectionFile = z.object({
  database_url: z.string(),
  temporal_address: z.string(),
  temporal_namespace: z.string(),
  temporal_ui_url: z.string().nullable(),
  api_base_url: z.string().optional(),
  console_url: z.string().optional(),
  smtp_port: z.number().optional(),
});

/** The variables with which an admin would reach the embedded stack of this folder; empty without one. */
export const readStackVariables = (folder: string): Environment => {
  try {
    const text = readFileSync(join(folder, 'connection.json'), 'utf8');
    const connection = connectionFile.parse(JSON.parse(text));
    return {
      DATABASE_URL: connection.database_url,
      TEMPORAL_ADDRESS: connection.temporal_address,
      TEMPORAL_NAMESPACE: connection.temporal_namespace,
      TEMPORAL_UI_URL: connection.temporal_ui_url ?? undefined,
      CONSOLE_BASE_URL: connection.console_url,
      PUBLIC_BASE_URL: connection.api_base_url,
      SMTP_HOST: connection.smtp_port === undefined ? undefined : '127.0.0.1',
      SECRETS_KEY_FILE: join(folder, 'secrets-key'),
      WEBHOOKS_KEY_FILE: join(folder, 'webhooks-key'),
      NOTIFICATIONS_KEY_FILE: join(folder, 'notifications-key'),
      ALLOW_LOOPBACK_TARGETS: 'true',
    };
  } catch {
    return {};
  }
};

/** Without the variables that are empty or blank: these count as not set. Every reader begins with it. */
export const withoutBlank = (env: Environment): Environment =>
  withoutUnset(
    Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value?.trim() && value])),
  );

const withoutUnset = (env: Environment): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );

/** The variables whose names match. */
export const pickVariables = (env: Environment, names: RegExp): Record<string, string> =>
  Object.fromEntries(Object.entries(withoutUnset(env)).filter(([name]) => names.test(name)));

/** Reads NAME, or else the file that NAME_FILE names. */
const readTexts = (env: Environment, names: string[], problems: string[]): Environment =>
  Object.fromEntries(
    names.map((name) => {
      const value = env[name]?.trim();
      const path = env[`${name}_FILE`]?.trim();
      if (value || !path) return [name, value];
      try {
        return [name, readFileSync(path, 'utf8').trim() || undefined];
      } catch {
        // Without the path: it may be the secret itself under the wrong name.
        problems.push(`${name}_FILE: must be the path of a readable file`);
        return [name, undefined];
      }
    }),
  );
/** The values of `sslmode`: those of libpq that postgres.js knows, and what node-postgres calls one of them. */
const sslModes = ['disable', 'allow', 'prefer', 'require', 'verify-full', 'no-verify'];

/** Parameters of other clients. postgres.js would send them to Postgres, which refuses the connection without a word why. */
const foreign: Readonly<Record<string, string>> = {
  channel_binding: 'sslmode=verify-full checks the server',
  sslrootcert: 'name the file in NODE_EXTRA_CA_CERTS',
  sslcert: 'client certificates are not supported',
  sslkey: 'client certificates are not supported',
  pgbouncer:
    'take the direct address of Postgres, or a pool of sessions: the service needs sessions',
  host: 'a socket is not supported: name the host before the database',
  hostaddr: 'name the host before the database',
  user: 'name the user before the host',
  password: 'write the password before the host',
};
const foreignToo =
  /^(ssl(accept|crl|compression|identity|password)|gssencmode|krbsrvname|keepalives.*|tcp_user_timeout|connection_limit|pool_.*|socket_timeout|statement_cache_size|schema|supa|port|dbname|passfile|service|require_auth|load_balance_hosts)$/;

const encodeSpecial =
  'must have special characters of user and password encoded: % as %25, @ as %40, # as %23, / as %2F, ? as %3F, : as %3A';

const isEncoded = (text: string): boolean => {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};

const findParameterProblem = ([name, value]: [string, string]): string | undefined => {
  if (name === 'sslmode')
    return sslModes.includes(value) ? undefined : `must have an sslmode of ${sslModes.join(', ')}`;
  if (Object.hasOwn(foreign, name)) return `must be without ${name}: ${foreign[name]}`;
  if (foreignToo.test(name)) return `must be without ${name}: it is for another client`;
  // Anything else may be a piece of a password.
  return /^[a-z_.]+$/i.test(name) ? undefined : encodeSpecial;
};

/**
 * Reads the address of a database as hosters print it.
 * @returns the address for postgres.js, or what to do, without any part of the address but names of parameters
 */
export const readDatabaseUrl = (
  text: string,
): { url: string; problem?: never } | { url?: never; problem: string } => {
  if (!/^postgres(ql)?:\/\//i.test(text))
    return { problem: 'must be a postgres:// URL of one host, without quotes around it' };
  const authority = text.slice(text.indexOf('://') + 3).split(/[/?#]/, 1)[0] ?? '';
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  // postgres.js would connect to the first of several hosts.
  if (host.includes(',')) return { problem: 'must be a postgres:// URL of one host' };
  if (/^%2f/i.test(host)) return { problem: 'must name a host: a socket is not supported' };
  const url = URL.parse(text);
  if (!url || url.hash !== '' || ![url.username, url.password, url.pathname].every(isEncoded))
    return { problem: encodeSpecial };
  url.pathname = url.pathname.replace(/\/+$/, '');
  if (/[/@]/.test(url.pathname.slice(1))) return { problem: encodeSpecial };
  for (const parameter of url.searchParams) {
    const problem = findParameterProblem(parameter);
    if (problem !== undefined) return { problem };
  }
  if (url.searchParams.get('sslmode') !== 'no-verify')
    return { url: text.replace(/^(.+?:\/\/[^?]*[^/?])\/+(?=\?|$)/s, '$1') };
  url.searchParams.set('sslmode', 'require');
  return { url: url.href };
};
