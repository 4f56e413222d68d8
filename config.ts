import { accessSync, constants, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { z } from 'zod';
import {
  definedOnly,
  embeddedSettings,
  type Environment,
  only,
  orThrow,
  read,
  temporalConfig,
} from './environment.ts';
import { SetupError } from './process.ts';

const port = z.coerce.number().int().min(0).max(65_535);
const httpUrl = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ''));
/** What one client address may ask of the payers' pages. */
const payerPagesPerMinute = z.coerce.number().int().min(1).max(1_000_000);
/** As long as histories are kept, a payment's record is needed. */
const days = z.coerce.number().int().min(30).max(36_500);
const flag = z.enum(['true', 'false']).transform((text) => text === 'true');

const loopbackHosts = new Set(['127.0.0.1', 'localhost', '[::1]']);
const isPublic = (url = '') => URL.canParse(url) && !loopbackHosts.has(new URL(url).hostname);

const keyRing = z
  .string()
  .regex(
    /^[\w-]{1,32}:[A-Za-z0-9+/]{43}=(,[\w-]{1,32}:[A-Za-z0-9+/]{43}=)*$/,
    'must be id:key[,id:key…], each key 32 bytes in base64, the first one encrypts',
  )
  .refine((text) => {
    const ids = text.split(',').map((entry) => entry.split(':', 1)[0]);
    return new Set(ids).size === ids.length;
  }, 'must name every id once')
  .transform((text) => {
    const keys = text.split(',').map((entry) => {
      const [id = '', key = ''] = entry.split(':');
      return [id, Buffer.from(key, 'base64')] as const;
    });
    return { currentId: keys[0]?.[0] ?? '', keys: new Map(keys) };
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
          prefix: /^\d{1,3}$/.test(bits) && more.length === 0 ? Number(bits) : NaN,
        };
      }),
  )
  .refine(
    (all) => all.every(({ address, prefix }) => prefix <= (bitsOf[isIP(address)] ?? -1)),
    'must be IP addresses or networks like 10.0.0.0/8, separated by commas',
  );
const bitsOf: Record<number, number> = { 4: 32, 6: 128 };

const oneHost = 'must be a postgres:// URL of one host';
const shared = {
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, hostname: /^[^,]*$/, error: oneHost }),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  SHUTDOWN_GRACE_SECONDS: z.coerce.number().int().min(1).max(300).default(20),
};

/** Health and metrics, for those who operate the service alone. */
const METRICS_HOST = z.string().default('127.0.0.1');

const apiShape = {
  ...shared,
  METRICS_HOST,
  METRICS_PORT: port.default(9464),
  API_HOST: z.string().default('127.0.0.1'),
  API_PORT: port.default(3000),
  PUBLIC_BASE_URL: httpUrl,
  /** Whose X-Forwarded-For is believed. */
  TRUSTED_PROXIES: networks.default([]),
  PAYER_PAGES_PER_MINUTE: payerPagesPerMinute.default(60),
  /** Opens the secrets that gateways sign notifications with; none are taken without it. */
  SECRETS_KEY: keyRing.optional(),
};

/** Of a worker process: each queue can have processes of its own. */
const taskQueues = z
  .string()
  .default('payments,webhooks')
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

const workerShape = {
  ...shared,
  METRICS_HOST,
  METRICS_PORT: port.default(9465),
  PUBLIC_BASE_URL: httpUrl,
  SECRETS_KEY: keyRing,
  ALLOW_LOOPBACK_TARGETS: flag.default(false),
  WORKFLOW_BUNDLE: z
    .string()
    .refine(isReadable, 'must be the path of a file that can be read')
    .optional(),
  TASK_QUEUES: taskQueues,
};

const stackShape = {
  LOG_LEVEL: shared.LOG_LEVEL,
  DATA_DIR: z.string().default('.data'),
  DATABASE_URL: shared.DATABASE_URL.optional(),
  TEMPORAL_ADDRESS: z.string().optional(),
  TEMPORAL_CLI_PATH: z.string().optional(),
  /** `false` never asks for a ready-made program: it is built, or an error says what to do. */
  TEMPORAL_DOWNLOAD: flag.default(true),
  CACHE_DIR: z.string().optional(),
  API_PORT: port.default(3000),
  SHOP_PORT: port.default(3001),
  PAYER_PAGES_PER_MINUTE: payerPagesPerMinute.optional(),
  POSTGRES_PORT: port.default(54_329),
  TEMPORAL_PORT: port.default(7233),
  TEMPORAL_UI_PORT: port.default(8233),
  API_METRICS_PORT: port.default(0),
  WORKER_METRICS_PORT: port.default(0),
};

const adminShape = {
  DATABASE_URL: shared.DATABASE_URL,
  /** Only what seals or opens a secret needs it. */
  SECRETS_KEY: keyRing.optional(),
  ALLOW_LOOPBACK_TARGETS: flag.default(false),
  /** What is dropped by `purge`, by its age in days; without the second payments are kept. */
  KEEP_ATTEMPT_BODIES_DAYS: days.default(90),
  KEEP_PAYMENTS_DAYS: days.optional(),
  /** For links to payments' workflows. */
  TEMPORAL_UI_URL: httpUrl.optional(),
};

/** @throws SetupError */
export const readApiConfig = (env: Environment = process.env) => {
  const { values, problems } = read(apiShape, env);
  const temporal = temporalConfig(env, problems);
  return orThrow(values && temporal && { ...values, temporal }, problems);
};

/** @throws SetupError */
export const readWorkerConfig = (env: Environment = process.env) => {
  const { values, texts, problems } = read(workerShape, env);
  const temporal = temporalConfig(env, problems);
  if (texts['ALLOW_LOOPBACK_TARGETS'] === 'true' && isPublic(texts['PUBLIC_BASE_URL']))
    problems.push('ALLOW_LOOPBACK_TARGETS: is refused together with a public PUBLIC_BASE_URL');
  return orThrow(values && temporal && { ...values, temporal }, problems);
};

/**
 * Without a DATABASE_URL of its own, or with the stack's, an admin means the embedded stack.
 * @throws SetupError
 */
export const readAdminConfig = (env: Environment = process.env) => {
  const embedded = embeddedSettings(env['DATA_DIR'] || '.data');
  const isElsewhere = env['DATABASE_URL_FILE'] || env['DATABASE_URL'];
  const usesStack = !isElsewhere || env['DATABASE_URL'] === embedded['DATABASE_URL'];
  const settings = usesStack ? { ...embedded, ...definedOnly(env) } : env;
  const { values, problems } = read(adminShape, settings);
  const temporal = temporalConfig(settings, problems);
  return orThrow(values && temporal && { ...values, temporal }, problems);
};

/** Of the migrations. @throws SetupError */
export const readDatabaseConfig = (env: Environment = process.env) => {
  const { values, problems } = read({ DATABASE_URL: shared.DATABASE_URL }, env);
  return orThrow(values, problems);
};

/** Of what talks to Temporal alone; without an address, to the stack's. @throws SetupError */
export const readTemporalConfig = (env: Environment = process.env) => {
  const isElsewhere = env['TEMPORAL_ADDRESS'] || env['TEMPORAL_CONFIG_FILE'];
  const embedded = isElsewhere ? {} : embeddedSettings(env['DATA_DIR'] || '.data');
  const settings = { ...embedded, ...definedOnly(env) };
  const { values, problems } = read({ WORKFLOW_BUNDLE: workerShape.WORKFLOW_BUNDLE }, settings);
  const temporal = temporalConfig(settings, problems);
  return orThrow(values && temporal && { ...values, temporal }, problems);
};

/** What the programs that the stack starts need of the surroundings, and no more: Go, proxies, CAs. */
const inherited =
  /^(PATH|HOME|USER|LANG|TZ|TMPDIR|XDG_CACHE_HOME|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS|(HTTPS?|NO|ALL)_PROXY|GO[A-Z0-9]*)$/i;

/** @throws SetupError */
export const readStackConfig = (env: Environment = process.env) => {
  const { values, problems } = read(stackShape, env);
  const external = values?.TEMPORAL_ADDRESS ? temporalConfig(env, problems) : undefined;
  return {
    ...orThrow(values, problems),
    inherited: only(env, inherited),
    /** Undefined: the embedded one. `variables` are for those who connect to it as well. */
    externalTemporal: external && {
      ...external,
      variables: only(env, /^TEMPORAL_(?!CLI_PATH|DOWNLOAD|PORT|UI_PORT)/),
    },
  };
};
export type StackConfig = ReturnType<typeof readStackConfig>;

/** The text of SECRETS_KEY. @throws SetupError */
export const parseKeyRing = (text: string): KeyRing => {
  const { data, error } = keyRing.safeParse(text);
  if (data) return data;
  throw new SetupError(`The secrets key is not usable: ${error.issues[0]?.message}`);
};
export type KeyRing = z.infer<typeof keyRing>;
