import { stripTypeScriptTypes } from 'node:module';
import { posix } from 'node:path';
import { expect, it } from 'vitest';
import { projectFiles, readProjectFile } from '../../support/checks/project-files.ts';

const service =
  'config.ts process.ts contract postgres temporal telemetry gateways webhooks mail activities workflows api worker admin stack demo client';

/**
 * The project's own modules that a folder or file may import, besides its own folder. All rows that match a
 * file add up; a file without a row fails. `value` lists imports that remain after types are stripped,
 * `type` further ones for `import type`. `file#name,name` allows only these names.
 */
const rules: Record<string, { value?: string; type?: string }> = {
  contract: {},
  'contract/version.ts': { value: 'package.json' },
  'node-version.mjs': { value: 'process-one.mjs' },
  'process-one.mjs': {},
  'config.ts': {
    value:
      'environment.ts contract/limits.ts contract/mail-address.ts contract/whole-number.ts process.ts#SetupError',
  },
  // Only config.ts imports it, so that nothing else reads settings.
  'environment.ts': { value: 'process.ts#SetupError' },
  'process.ts': {},
  postgres: { value: 'contract' },
  'postgres/main.ts': { value: 'node-version.mjs' },
  'postgres/start.ts': { value: 'config.ts process.ts telemetry/log.ts' },
  'postgres/schema-version.ts': { value: 'process.ts#SetupError' },
  'postgres/metrics/statements.ts': { type: 'telemetry/metrics.ts' },
  temporal: {
    value: 'contract telemetry/log.ts',
  },
  telemetry: { value: 'contract process.ts#listen' },
  gateways: { value: 'contract' },
  'gateways/sandbox.ts': {
    value: 'postgres/sandbox/payments.ts',
    type: 'postgres/sandbox/refunds.ts',
  },
  webhooks: { value: 'contract' },
  mail: { value: 'contract' },
  activities: {
    value:
      'contract postgres gateways webhooks mail temporal/failures.ts temporal/replay-delivery.ts',
    type: 'telemetry/log.ts temporal',
  },
  workflows: {
    value: 'contract temporal/messages.ts temporal/failures.ts',
    type: 'activities',
  },
  api: {
    value: 'contract postgres gateways temporal telemetry/log.ts',
    type: 'workflows telemetry/metrics.ts',
  },
  'api/main.ts': { value: 'node-version.mjs' },
  'api/start.ts': { value: 'config.ts process.ts telemetry' },
  worker: {
    value: 'contract postgres gateways webhooks mail activities temporal telemetry/log.ts',
    type: 'telemetry/metrics.ts',
  },
  'worker/main.ts': { value: 'node-version.mjs' },
  'worker/start.ts': { value: 'config.ts process.ts telemetry' },
  'worker/setup-namespace.ts': { value: 'node-version.mjs' },
  'worker/namespace.ts': { value: 'config.ts process.ts telemetry/log.ts' },
  'worker/bundle.ts': { value: 'node-version.mjs' },
  'worker/replay-open.ts': { value: 'node-version.mjs' },
  'worker/replay.ts': { value: 'config.ts process.ts' },
  'admin/operations': { value: 'contract postgres temporal gateways webhooks' },
  'admin/cli': { value: 'contract postgres admin/operations process.ts#SetupError' },
  'admin/cli/main.ts': { value: 'node-version.mjs' },
  'admin/cli/start.ts': {
    value: 'config.ts process.ts temporal',
  },
  'admin/console': {
    value:
      'contract postgres admin/operations/account-month.ts admin/operations/accounts.ts#mendOf admin/operations/application-settings.ts admin/operations/audit-money.ts admin/operations/change.ts admin/operations/confirmation.ts#isSamePerson admin/operations/csv.ts admin/operations/labels.ts admin/operations/fact.ts admin/operations/facts.ts admin/operations/links/links.ts admin/operations/links/labels.ts admin/operations/orders.ts admin/operations/webhook-url.ts telemetry/log.ts telemetry/single-flight.ts',
    type: 'admin/operations',
  },
  'admin/console/main.ts': { value: 'node-version.mjs' },
  'admin/console/start.ts': {
    value: 'config.ts process.ts admin/operations temporal',
  },
  stack: {
    value:
      'node-version.mjs config.ts process.ts postgres contract temporal admin/operations/change.ts admin/operations/console-logins.ts',
  },
  client: {},
  demo: { value: 'client/src/index.ts client/src/inbox.ts' },
  tools: { value: `${service} protocol test` },
  bench: {
    value: `${service} tools/production chaos/link.ts test/fakes test/support/checks test/support/data test/support/servers`,
  },
  chaos: {
    value: `${service} tools/production tools/compose test/fakes test/support/service/stripe-account.ts`,
  },
  protocol: {},
  docs: { value: service },
  test: { value: `${service} protocol docs chaos tools` },
  'vitest.config.ts': {
    value: ['compile-cache', 'mixed-order', 'on-few-cores']
      .map((name) => `test/support/runner/${name}.ts`)
      .join(' '),
  },
};

/** The packages that workflows may load. Temporal's workflow sandbox has no Node modules. */
const workflowPackages = /^@temporalio\/(workflow|common)$/;

interface Import {
  from: string;
  isOurs: boolean;
  names: string[];
}

const importsIn = (file: string, code: string): Import[] =>
  [
    ...code.matchAll(/(?:^(?:import|export)\b([^'";]*)from|\bimport\b\s*\(?)\s*['"]([^'"]+)['"]/gm),
  ].map(([, clause = '', from = '']) => ({
    from: from.startsWith('.') ? posix.join(posix.dirname(file), from) : from,
    isOurs: from.startsWith('.'),
    names: clause.replaceAll(/ as \w+/g, '').match(/\w+(?=\s*[,}])/g) ?? ['*'],
  }));

const files = projectFiles().filter((path) => /\.(ts|mjs)$/.test(path));
const sources = new Map(files.map((path) => [path, readProjectFile(path)]));
const values = new Map(
  [...sources].map(([path, text]) => [path, importsIn(path, stripTypeScriptTypes(text))]),
);

const isIn = (path: string, place: string) => path === place || path.startsWith(`${place}/`);
/** Files import from their own folder freely. `api/http` and the parts of `admin` are floors: each knows nothing else of it. */
const ownFolder = (file: string) =>
  /^(?:api\/http|admin\/\w+)(?=\/)/.exec(file)?.[0] ?? file.slice(0, file.indexOf('/'));
const allows = (allowed: string[], file: string, { from, isOurs, names }: Import) =>
  !isOurs ||
  (file.includes('/') && isIn(from, ownFolder(file))) ||
  allowed.some((place) => {
    const [path = '', only] = place.split('#');
    return isIn(from, path) && (!only || names.every((each) => only.split(',').includes(each)));
  });

it('folders import only the folders that the rules allow', () => {
  const broken = files.flatMap((file) => {
    const rows = Object.keys(rules).filter((place) => isIn(file, place));
    if (rows.length === 0) return [`${file} has no rule`];
    const places = (of: 'value' | 'type') =>
      rows.flatMap((row) => rules[row]?.[of]?.split(' ') ?? []);
    const running = values.get(file) ?? [];
    const runs = new Set(running.map((each) => JSON.stringify(each)));
    const types = importsIn(file, sources.get(file) ?? '').filter(
      (each) => !runs.has(JSON.stringify(each)),
    );
    return [
      ...running
        .filter((each) => !allows(places('value'), file, each))
        .map(({ from, names }) => `${file} imports ${names.join()} of ${from}`),
      ...types
        .filter((each) => !allows([...places('value'), ...places('type')], file, each))
        .map(({ from, names }) => `${file} imports the type ${names.join()} of ${from}`),
    ];
  });
  expect(broken).toEqual([]);
});

/** Finds the files that reach each other by imports, of values or types: each group is one circle or more. */
const findCircles = (imports: ReadonlyMap<string, readonly string[]>): string[][] => {
  const reaches = (start: string): Set<string> => {
    const reached = new Set<string>();
    const open = [start];
    for (let file = open.pop(); file !== undefined; file = open.pop())
      for (const next of imports.get(file) ?? []) {
        if (reached.has(next)) continue;
        reached.add(next);
        open.push(next);
      }
    return reached;
  };
  const reached = new Map([...imports.keys()].map((file) => [file, reaches(file)]));
  const inCircles = [...reached].filter(([file, others]) => others.has(file));
  const circleOf = (file: string, others: Set<string>) =>
    [...others].filter((other) => reached.get(other)?.has(file)).sort();
  return [...new Set(inCircles.map(([file, others]) => circleOf(file, others).join(' ')))].map(
    (circle) => circle.split(' '),
  );
};

it('no file imports itself through others, of types neither', () => {
  const imports = new Map(
    [...sources].map(([file, text]) => [
      file,
      importsIn(file, text).flatMap(({ from, isOurs }) => (isOurs ? [from] : [])),
    ]),
  );
  expect(imports.get('api/start.ts')).toContain('api/service.ts');
  expect(findCircles(imports)).toEqual([]);
});

it('no folder of postgres/ imports itself through others', () => {
  const placeOf = (path: string) => /^postgres\/\w+(?=\/)/.exec(path)?.[0] ?? path;
  const imports = new Map<string, string[]>();
  for (const [file, text] of sources) {
    const place = placeOf(file);
    const others = importsIn(file, text).flatMap(({ from, isOurs }) =>
      isOurs && placeOf(from) !== place ? [placeOf(from)] : [],
    );
    imports.set(place, [...(imports.get(place) ?? []), ...others]);
  }
  expect(imports.get('postgres/console')).toContain('postgres/admin');
  expect(findCircles(imports)).toEqual([]);
});

/** Lists the packages and Node modules that are loaded with these files, directly or not. */
const findLoads = (start: readonly string[]) => {
  const reached = new Set(start);
  const loads: { file: string; from: string }[] = [];
  for (const file of reached)
    for (const { from, isOurs } of values.get(file) ?? [])
      if (isOurs) reached.add(from);
      else loads.push({ file, from });
  return loads;
};

it('workflows load only packages that Temporal can replay and that keep the bundle small', () => {
  const loads = findLoads(files.filter((path) => path.startsWith('workflows/')));
  expect(loads.length).toBeGreaterThan(0);
  expect(loads.filter(({ from }) => !workflowPackages.test(from))).toEqual([]);
});

it('the API loads no HTTP client, because it calls neither gateways nor webhook receivers', () => {
  const loads = findLoads(['api/main.ts']);
  expect(loads.map(({ from }) => from)).toContain('koa');
  expect(loads.filter(({ from }) => from === 'undici')).toEqual([]);
});

it('every process checks the version of Node, and listens to signals, before it loads what takes time', () => {
  const entries = files.filter((path) =>
    /^(?:admin\/cli|admin\/console|api|postgres|stack|worker)\/main\.ts$|^worker\/(?:bundle|replay-open|setup-namespace)\.ts$/.test(
      path,
    ),
  );
  expect(entries).toHaveLength(9);
  const imports = (path: string) => [
    ...(sources.get(path) ?? '').matchAll(/^import\b[^;]*'([^']+)';/gm),
  ];
  const loadedFirst = entries.flatMap((path) => imports(path).map(([, from]) => from));
  expect(loadedFirst.filter((from) => !from?.startsWith('node:'))).toEqual(
    entries.map((path) => `${'../'.repeat(path.split('/').length - 1)}node-version.mjs`),
  );
});
