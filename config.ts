import { accessSync, constants, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { z } from 'zod';
import { limits } from './contract/limits.ts';
import { isMailAddress } from './contract/mail-address.ts';
import { parseWholeNumber } from './contract/whole-number.ts';
import {
  type Environment,
  parseVariables,
  pickVariables,
  readDatabaseUrl,
  readStackVariables,
  readTemporalVariables,
  requireValid,
  withoutBlank,
} from './environment.ts';
import { SetupError } from './process.ts';

/** In digits alone: `1e3` and `0x10` are typing errors. */
const wholeNumber = (min: number, max: number) =>
  z.string().transform((text, context) => {
    const value = parseWholeNumber(text, { min, max });
    if (value !== undefined) return value;
    context.addIssue(`must be a whole number from ${min} to ${max}, written in digits`);
    return z.NEVER;
  });
const port = wholeNumber(0, 65_535);
const httpUrl = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''));
/** Requests of one client address to the payer pages. */
const payerPagesPerMinute = wholeNumber(1, 1_000_000);
/** At least 30: Temporal keeps histories that long, and they need the payment. */
const days = wholeNumber(30, 36_500);
const flag = z.enum(['true', 'false']).transform((text) => text === 'true');

const loopbackHosts = new Set(['127.0.0.1', 'localhost', '[::1]']);
const isLoopbackName = (url: string) => {
  const { hostname } = new URL(url);
  return loopbackHosts.has(hostname) || hostname.endsWith('.localhost');
};
const isPublic = (url = '') => URL.canParse(url) && !loopbackHosts.has(new URL(url).hostname);

const keyRing = z
  .string()
  .regex(
    /^[\w-]{1,32}:[A-Za-z0-9+/]{43}=(,[\w-]{1,32}:[A-Za-z0-9+/]{43}=)*$/,
    'must be id:key[,id:key…] with keys of 32 bytes in base64; the first one encrypts',
  )
  .refine((text) => {
    const ids = text.split(',').map((entry) => entry.split(':', 1)[0]);
    return new Set(ids).size === ids.length;
  }, 'must not repeat an id')
  .transform((text) => {
    const keys = text.split(',').map((entry) => {
      const [id = '', key = ''] = entry.split(':');
      return [id, Buffer.from(key, 'base64')] as const;
    });
    return { currentId: keys[0]?.[0] ?? '', keys: new Map(keys) };
  });

/** As hosters print it. The problem never quotes it: it has a password. */
const databaseUrl = z.string().transform((text, context) => {
  const { url, problem } = readDatabaseUrl(text);
  if (url !== undefined) return url;
  context.addIssue(problem);
  return z.NEVER;
});

/** Addresses and networks, e.g. `10.0.0.0/8,::1`. */
const networks = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
      .map((entry) => {
        const [address = '', bits = isIP(address) === 4 ? '32' : '128', ...more] = entry.split('/');
        return {
          address,
          prefix: more.length === 0 ? (parseWholeNumber(bits, { min: 0, max: 128 }) ?? NaN) : NaN,
        };
      }),
  )
  .refine(
    (all) => all.every(({ address, prefix }) => prefix <= (bitsOf[isIP(address)] ?? -1)),
    'must be IP addresses or networks like 10.0.0.0/8, separated by commas',
  );
const bitsOf: Record<number, number> = { 4: 32, 6: 128 };

const shared = {
  DATABASE_URL: databaseUrl,
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  SHUTDOWN_GRACE_SECONDS: wholeNumber(1, 300).default(20),
};

/** The port for health and metrics is not for the public. */
const METRICS_HOST = z.string().default('127.0.0.1');

/** The server that takes mail, by name or address. Without it the service sends mail to nobody. */
const SMTP_HOST = z
  .string()
  .regex(/^[A-Za-z0-9.:-]{1,253}$/, 'must be a name or an address without a port, see SMTP_PORT')
  .optional();

const mailAddress = z
  .string()
  .refine(isMailAddress, 'must be one e-mail address in ASCII, like payments@shop.example');

const apiShape = {
  ...shared,
  METRICS_HOST,
  METRICS_PORT: port.default(9464),
  API_HOST: z.string().default('127.0.0.1'),
  API_PORT: port.default(3000),
  PUBLIC_BASE_URL: httpUrl,
  /** Proxies whose X-Forwarded-For counts. */
  TRUSTED_PROXIES: networks.default([]),
  /** The form of a client's address in the log. Truncated: its /24 or /48. */
  LOG_CLIENT_ADDRESS: z.enum(['full', 'truncated', 'off']).default('truncated'),
  PAYER_PAGES_PER_MINUTE: payerPagesPerMinute.default(limits.payerPagesPerMinute),
  /** The address for reports of a weakness. Without it there is no security.txt. */
  SECURITY_CONTACT: z.url({ protocol: /^(https|mailto)$/ }).optional(),
  /** Opens the secrets of gateway notifications, and nothing else. Without it, the API rejects them. */
  NOTIFICATIONS_KEY: keyRing.optional(),
  /** Seals the data of payers, and makes the fingerprints of creates. */
  PAYERS_KEY: keyRing,
};

const defaultQueues = 'payments,webhooks';
/** The task queues that a worker process serves. */
const taskQueues = z
  .string()
  .default(defaultQueues)
  .transform((text) => text.split(','))
  .pipe(z.array(z.enum(['payments', 'webhooks'], 'must be payments, webhooks or both')));

const isReadable = (path: string): boolean => {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

/** The name keeps the console's cookie from everything else on this machine: cookies know no ports. */
const consoleBaseUrl = httpUrl
  .refine(
    (url) => url.startsWith('https:') || isLoopbackName(url),
    'must be an https address, or one of localhost',
  )
  .refine((url) => new URL(url).origin === url, 'must not have a path');

const workerShape = {
  ...shared,
  METRICS_HOST,
  METRICS_PORT: port.default(9465),
  PUBLIC_BASE_URL: httpUrl,
  /** Opens the credentials of gateways. Required for the queue `payments`. */
  SECRETS_KEY: keyRing.optional(),
  /** Opens webhook secrets. Required for the queue `webhooks`. */
  WEBHOOKS_KEY: keyRing.optional(),
  /** Opens the data of payers. Required for the queue `payments`. */
  PAYERS_KEY: keyRing.optional(),
  ALLOW_LOOPBACK_TARGETS: flag.default(false),
  SMTP_HOST,
  SMTP_PORT: wholeNumber(1, 65_535).default(587),
  SMTP_USER: z.string().optional(),
  SMTP_PASSWORD: z.string().optional(),
  /** The address that mails come from. Required with SMTP_HOST for the queue `webhooks`. */
  SMTP_FROM: mailAddress.optional(),
  /** Mails link there. */
  CONSOLE_BASE_URL: consoleBaseUrl.optional(),
  WORKFLOW_BUNDLE: z.string().refine(isReadable, 'must be the path of a readable file').optional(),
  TASK_QUEUES: taskQueues,
};

/** The provider sends tokens there, so nobody may listen on the way. */
const issuer = z
  .url({ protocol: /^https?$/ })
  .refine(
    (url) => url.startsWith('https:') || loopbackHosts.has(new URL(url).hostname),
    'must be an https address, or one of this machine',
  )
  .transform((url) => new URL(url));

/** For the operations of admins, on either surface. */
const operationsShape = {
  /** Needed for the credentials of gateways only. */
  SECRETS_KEY: keyRing.optional(),
  /** Needed for webhook secrets only. */
  WEBHOOKS_KEY: keyRing.optional(),
  /** Needed for the notification secrets of gateways only. */
  NOTIFICATIONS_KEY: keyRing.optional(),
  ALLOW_LOOPBACK_TARGETS: flag.default(false),
  /** Its presence says that the workers for webhooks send mail. */
  SMTP_HOST,
  /** For links to the workflows of payments. */
  TEMPORAL_UI_URL: httpUrl.optional(),
  /** For the addresses of payment links. */
  PUBLIC_BASE_URL: httpUrl.optional(),
  /** Links that let people in lead there. */
  CONSOLE_BASE_URL: consoleBaseUrl.default('http://console.localhost:3002'),
};

const consoleShape = {
  ...shared,
  ...operationsShape,
  CONSOLE_HOST: z.string().default('127.0.0.1'),
  CONSOLE_PORT: port.default(3002),
  /** The identity provider: all three, or none. */
  OIDC_ISSUER: issuer.optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  OIDC_CLIENT_SECRET: z.string().optional(),
  /** Set by `npm start` alone: test payments skip the time until their next step. */
  SKIP_TIME: flag.default(false),
};

const stackShape = {
  LOG_LEVEL: shared.LOG_LEVEL,
  DATA_DIR: z.string().default('.data'),
  DATABASE_URL: shared.DATABASE_URL.optional(),
  TEMPORAL_ADDRESS: z.string().optional(),
  TEMPORAL_CLI_PATH: z.string().optional(),
  /** `false` never downloads Temporal: the stack builds it, or an error says what to do. */
  TEMPORAL_DOWNLOAD: flag.default(true),
  CACHE_DIR: z.string().optional(),
  API_PORT: port.default(3000),
  SHOP_PORT: port.default(3001),
  CONSOLE_PORT: port.default(3002),
  PAYER_PAGES_PER_MINUTE: payerPagesPerMinute.optional(),
  POSTGRES_PORT: port.default(54_329),
  TEMPORAL_PORT: port.default(7233),
  TEMPORAL_UI_PORT: port.default(8233),
  API_METRICS_PORT: port.default(0),
  WORKER_METRICS_PORT: port.default(0),
};

const adminShape = {
  DATABASE_URL: shared.DATABASE_URL,
  ...operationsShape,
  /** The age at which `purge` deletes data. Without KEEP_PAYMENTS_DAYS it keeps payments. */
  KEEP_ATTEMPT_BODIES_DAYS: days.default(90),
  KEEP_PAYMENTS_DAYS: days.optional(),
};

/** The shape of the settings of each kind of process, which docs/configuration.md lists. */
export const shapes = {
  api: apiShape,
  worker: workerShape,
  admin: adminShape,
  console: consoleShape,
  stack: stackShape,
} as const;

/** Reads the settings of a process that needs Temporal. @throws SetupError */
const readWithTemporal = <S extends z.ZodRawShape>(
  shape: S,
  env: Environment,
  findProblem: (texts: Environment) => string | undefined = () => undefined,
) => {
  const { values, texts, problems } = parseVariables(shape, env);
  const temporal = readTemporalVariables(env, problems);
  const problem = findProblem(texts);
  if (problem !== undefined) problems.push(problem);
  return requireValid(values && temporal && { ...values, temporal }, problems);
};

/** @throws SetupError */
export const readApiConfig = (variables: Environment = process.env) =>
  readWithTemporal(apiShape, withoutBlank(variables));

/** The settings of the workers of one queue alone. */
export const settingsOfQueue: Readonly<Record<'payments' | 'webhooks', readonly string[]>> = {
  payments: ['PAYERS_KEY', 'SECRETS_KEY'],
  webhooks: [
    ...['CONSOLE_BASE_URL', 'WEBHOOKS_KEY'],
    ...['SMTP_FROM', 'SMTP_HOST', 'SMTP_PASSWORD', 'SMTP_PORT', 'SMTP_USER'],
  ],
};

/** A worker does not see the settings of a queue that it does not serve. @throws SetupError */
export const readWorkerConfig = (variables: Environment = process.env) => {
  const given = withoutBlank(variables);
  const { texts: chosen } = parseVariables({ TASK_QUEUES: taskQueues }, given);
  const queues = chosen['TASK_QUEUES'] ?? defaultQueues;
  const foreign = Object.entries(settingsOfQueue).flatMap(([queue, names]) =>
    queues.includes(queue) ? [] : names,
  );
  const env = Object.fromEntries(
    Object.entries(given).filter(([name]) => !foreign.includes(name.replace(/_FILE$/, ''))),
  );
  const keyFor = (queue: string) => (queues.includes(queue) ? keyRing : keyRing.optional());
  return readWithTemporal(
    {
      ...workerShape,
      SECRETS_KEY: keyFor('payments'),
      PAYERS_KEY: keyFor('payments'),
      WEBHOOKS_KEY: keyFor('webhooks'),
    },
    env,
    (texts) => {
      if (texts['ALLOW_LOOPBACK_TARGETS'] === 'true' && isPublic(texts['PUBLIC_BASE_URL']))
        return 'ALLOW_LOOPBACK_TARGETS: must not be true with a public PUBLIC_BASE_URL';
      const { SMTP_HOST: host, SMTP_FROM, SMTP_USER, SMTP_PASSWORD } = texts;
      if (host === undefined) return undefined;
      if (SMTP_FROM === undefined) return 'SMTP_FROM: is missing: SMTP_HOST needs it';
      return SMTP_USER !== undefined && SMTP_PASSWORD === undefined
        ? 'SMTP_PASSWORD: is missing: SMTP_USER needs it'
        : undefined;
    },
  );
};

/** @throws SetupError */
export const readConsoleConfig = (variables: Environment = process.env) => {
  const env = withoutBlank(variables);
  return readWithTemporal(consoleShape, env, (texts) => {
    const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET } = texts;
    const isSet = [OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET].map(Boolean);
    const places = [`http://${env['TEMPORAL_ADDRESS'] ?? ''}`, texts['CONSOLE_BASE_URL'] ?? ''];
    const isOwnStack = places.every((url) => URL.canParse(url) && isLoopbackName(url));
    if (texts['SKIP_TIME'] === 'true' && !isOwnStack) return 'SKIP_TIME: is for npm start alone';
    return new Set(isSet).size > 1
      ? 'OIDC_*: OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET need each other'
      : undefined;
  });
};

/**
 * Uses the embedded stack without a DATABASE_URL, or with the stack's own.
 * @throws SetupError
 */
export const readAdminConfig = (variables: Environment = process.env) => {
  const env = withoutBlank(variables);
  const embedded = readStackVariables(env['DATA_DIR'] ?? '.data');
  const isElsewhere = env['DATABASE_URL_FILE'] ?? env['DATABASE_URL'];
  const usesStack = !isElsewhere || env['DATABASE_URL'] === embedded['DATABASE_URL'];
  return readWithTemporal(adminShape, usesStack ? { ...embedded, ...env } : env);
};

/** For the migrations. @throws SetupError */
export const readDatabaseConfig = (variables: Environment = process.env) => {
  const env = withoutBlank(variables);
  const { values, problems } = parseVariables({ DATABASE_URL: shared.DATABASE_URL }, env);
  return requireValid(values, problems);
};

/** For programs that use Temporal only. Without an address, they use the embedded stack. @throws SetupError */
export const readTemporalConfig = (variables: Environment = process.env) => {
  const env = withoutBlank(variables);
  const isElsewhere = env['TEMPORAL_ADDRESS'] ?? env['TEMPORAL_CONFIG_FILE'];
  const embedded = isElsewhere ? {} : readStackVariables(env['DATA_DIR'] ?? '.data');
  const { WORKFLOW_BUNDLE } = workerShape;
  return readWithTemporal({ WORKFLOW_BUNDLE }, { ...embedded, ...env });
};

/** Variables that the stack passes on to its programs: paths, proxies, certificates, pip, Go. No others. */
const inherited =
  /^(PATH|HOME|USER|LANG|TZ|TMPDIR|XDG_(CACHE|CONFIG)_HOME|SSL_CERT_(FILE|DIR)|(NODE_EXTRA|REQUESTS)_CA_(CERTS|BUNDLE)|(HTTPS?|NO|ALL)_PROXY|PIP_[A-Z_]*|GO[A-Z0-9]*)$/i;

/** @throws SetupError */
export const readStackConfig = (variables: Environment = process.env) => {
  const env = withoutBlank(variables);
  const { values, problems } = parseVariables(stackShape, env);
  const external = values?.TEMPORAL_ADDRESS ? readTemporalVariables(env, problems) : undefined;
  return {
    ...requireValid(values, problems),
    inherited: pickVariables(env, inherited),
    /** Undefined for the embedded Temporal. `variables` are for the processes that connect to it. */
    externalTemporal: external && {
      ...external,
      variables: pickVariables(env, /^TEMPORAL_(?!CLI_PATH|DOWNLOAD|PORT|UI_PORT)/),
    },
  };
};
export type StackConfig = ReturnType<typeof readStackConfig>;

/** Parses the text of a key ring, e.g. of SECRETS_KEY. @throws SetupError */
export const parseKeyRing = (text: string): KeyRing => {
  const { data, error } = keyRing.safeParse(text);
  if (data) return data;
  throw new SetupError(`The secrets key ${error.issues[0]?.message}.`);
};
export type KeyRing = z.infer<typeof keyRing>;
