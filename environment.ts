import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { z } from 'zod';
import { SetupError } from './process.ts';

/** What config.ts hands over, which alone reads `process.env`. */
export type Environment = Record<string, string | undefined>;

/**
 * The variables of a shape, or what the files hold that NAME_FILE names: as they must be (`values`),
 * where nothing is wrong with them, as they came (`texts`), and a line for each problem.
 */
export const read = <S extends z.ZodRawShape>(shape: S, env: Environment) => {
  const problems: string[] = [];
  const values = withFiles(env, Object.keys(shape), problems);
  const parsed = z.object(shape).safeParse(values);
  const unreadable = new Set(problems.map((line) => line.slice(0, line.indexOf('_FILE'))));
  for (const { path, message } of parsed.error?.issues ?? []) {
    const name = String(path[0]);
    // The message only: a value may be a secret.
    if (!unreadable.has(name))
      problems.push(`${name}: ${values[name] === undefined ? 'is missing' : message}`);
  }
  return { values: parsed.data, texts: values, problems };
};

/** Everything that is wrong at once, a line for each variable. @throws SetupError */
export const orThrow = <T extends object>(
  values: T | undefined,
  problems: string[],
): Readonly<T> => {
  if (values && problems.length === 0) return Object.freeze(values);
  throw new SetupError(`The configuration is not usable:\n  ${problems.join('\n  ')}`);
};

/**
 * Address, namespace, TLS and API key of Temporal, from the SDK's own TEMPORAL_* variables. Its
 * settings file counts only where TEMPORAL_CONFIG_FILE names one: one that lies in the home by
 * chance would send the embedded stack's processes elsewhere.
 */
export const temporalConfig = (env: Environment, problems: string[]) => {
  const secrets = withFiles(env, ['TEMPORAL_API_KEY'], problems);
  try {
    const { connectionOptions, namespace } = loadClientConnectConfig({
      overrideEnvVars: definedOnly({ ...env, ...secrets }),
      disableFile: !env['TEMPORAL_CONFIG_FILE'],
    });
    return { connectionOptions, namespace: namespace ?? 'default' };
  } catch (error) {
    // The first line only: what follows may quote the settings file.
    problems.push(`TEMPORAL_*: ${String(error).split('\n', 1)[0]}`);
    return undefined;
  }
};

const connectionFile = z.object({
  database_url: z.string(),
  temporal_address: z.string(),
  temporal_namespace: z.string(),
  temporal_ui_url: z.string().nullable(),
});

/** What the embedded stack has left in its folder, in the form in which an admin would set it. */
export const embeddedSettings = (folder: string): Environment => {
  try {
    const text = readFileSync(join(folder, 'connection.json'), 'utf8');
    const facts = connectionFile.parse(JSON.parse(text));
    return {
      DATABASE_URL: facts.database_url,
      TEMPORAL_ADDRESS: facts.temporal_address,
      TEMPORAL_NAMESPACE: facts.temporal_namespace,
      TEMPORAL_UI_URL: facts.temporal_ui_url ?? undefined,
      SECRETS_KEY_FILE: join(folder, 'secrets-key'),
      ALLOW_LOOPBACK_TARGETS: 'true',
    };
  } catch {
    return {};
  }
};

/** An empty variable is one that is not set. */
export const definedOnly = (env: Environment): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );

/** Of what is set, that whose names fit. */
export const only = (env: Environment, names: RegExp): Record<string, string> =>
  Object.fromEntries(Object.entries(definedOnly(env)).filter(([name]) => names.test(name)));

/** The value of NAME, or the content of the file that NAME_FILE names. */
const withFiles = (env: Environment, names: string[], problems: string[]): Environment =>
  Object.fromEntries(
    names.map((name) => {
      const value = env[name]?.trim() || undefined;
      const path = env[`${name}_FILE`];
      if (value || !path) return [name, value];
      try {
        return [name, readFileSync(path, 'utf8').trim() || undefined];
      } catch {
        // Without the path: it may be the secret itself, given under the wrong name.
        problems.push(`${name}_FILE: is not the path of a file that can be read`);
        return [name, undefined];
      }
    }),
  );
