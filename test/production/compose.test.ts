import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { expect, it, onTestFinished } from 'vitest';
import { readStackConfig } from '../../config.ts';
import { choosePorts } from '../../stack/ports.ts';
import { launch } from '../../stack/processes.ts';
import { findTemporalServer } from '../../stack/temporal/program.ts';
import { connectTo } from '../../stack/temporal/server.ts';
import { createTerminal } from '../../stack/terminal.ts';
import { aFolder } from '../support/stack/support.ts';
import { readCompose } from '../support/compose.ts';
import { startOwnPostgres } from '../support/own-postgres.ts';
import { until } from '../support/until.ts';
import { runProgram } from '../../tools/production/programs.ts';
import { anyServerPorts } from '../../tools/production/temporal.ts';

const root = resolve(import.meta.dirname, '../..');
const { services, configs } = readCompose({ PUBLIC_BASE_URL: 'https://pay.example.com' });
const host = '127.0.0.1';
/** With an empty cache the server's programs are built first. */
const buildLimitMs = 20 * 60_000;

it(
  'starts Temporal by the scripts and settings of docker-compose.yml, which can run twice',
  { timeout: buildLimitMs + 120_000 },
  async () => {
    const stack = readStackConfig();
    const programs = await findTemporalServer({ ...stack, terminal: createTerminal() });
    const folder = aFolder();
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    symlinkSync(programs.server, join(bin, 'temporal-server'));
    symlinkSync(programs.sqlTool, join(bin, 'temporal-sql-tool'));
    const PATH = `${bin}:${stack.inherited['PATH']}`;
    writeFileSync(join(folder, 'temporal-password'), 'a-password\n');
    const localize = (script = '') => script.replaceAll('/run/secrets', folder);

    const postgres = await startOwnPostgres({ max_connections: '300' });
    onTestFinished(() => postgres.drop());
    const { port: DB_PORT } = new URL(postgres.url);
    const [, script = ''] =
      /<<'SQL'\n([\s\S]*)\nSQL\n/.exec(configs['create-users']?.content ?? '') ?? [];
    // test/integration/docs/deploying.test.ts covers the lines that only psql understands.
    const statements = script.replaceAll(/^\\.*\n/gm, '').replaceAll(/:'\w+'/g, "'a-password'");
    await postgres.sql.unsafe(statements).simple();

    const schema = services['temporal-schema'];
    const env = { ...schema?.environment, SQL_HOST: host, SQL_PORT: DB_PORT, PATH };
    const createSchema = () =>
      promisify(execFile)('sh', ['-euc', localize(schema?.command?.[0])], { env });
    await createSchema();
    await createSchema();

    const { frontendHttp, metrics, ...ports } = await choosePorts({
      ...anyServerPorts,
      frontendHttp: 0,
      metrics: 0,
    });
    const temporal = services['temporal'];
    const dynamicConfig = join(folder, 'dynamic-config.yaml');
    writeFileSync(dynamicConfig, configs['temporal-dynamic-config']?.content ?? '');
    const lines: string[] = [];
    const server = await launch({
      name: 'temporal',
      command: 'sh',
      // The image's entry point only determines the address of its container.
      args: [
        '-euc',
        localize(temporal?.command?.at(-1)).replace(
          '/etc/temporal/entrypoint.sh',
          'temporal-server start',
        ),
      ],
      env: {
        ...temporal?.environment,
        BIND_ON_IP: host,
        POSTGRES_SEEDS: host,
        DB_PORT,
        PATH,
        DYNAMIC_CONFIG_FILE_PATH: dynamicConfig,
        PROMETHEUS_ENDPOINT: `${host}:${metrics}`,
        FRONTEND_HTTP_PORT: String(frontendHttp),
        ...Object.fromEntries(
          Object.entries(ports).map(([name, port]) => [
            `${name.replace('Membership', '').toUpperCase()}_${name.endsWith('Membership') ? 'MEMBERSHIP' : 'GRPC'}_PORT`,
            String(port),
          ]),
        ),
      },
      stopSignals: [
        ['SIGTERM', 5000],
        ['SIGKILL', 1000],
      ],
      onLine: (line) => lines.push(line),
    });
    onTestFinished(server.stop);
    const address = `${host}:${ports.frontend}`;
    await (await connectTo(address, server, lines)).close();

    const setup = {
      root,
      env: { ...services['namespace']?.environment, TEMPORAL_ADDRESS: address },
    };
    await runProgram('namespace', setup);
    await runProgram('namespace', setup);
    const connection = await Connection.connect({ address });
    onTestFinished(() => connection.close());
    const namespace = services['api']?.environment?.['TEMPORAL_NAMESPACE'] ?? '';
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(30 * 24 * 3600);
    // The frontend learns of new search attributes within a minute.
    const { workflow } = new Client({ connection, namespace });
    const query = "Application = 'shop' AND OrderId = '1'";
    const isKnown = () =>
      workflow.count(query).then(
        () => true,
        () => false,
      );
    await until('the search attributes are known', isKnown, 90_000);
    const scraped = await fetch(`http://${host}:${metrics}/metrics`);
    expect(await scraped.text()).toContain('service_requests');

    await runProgram('migrations', { root, env: { DATABASE_URL: postgres.url } });
  },
);
