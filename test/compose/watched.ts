import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Shape } from '../../tools/compose/shape.ts';
import { until } from '../support/until.ts';

/** Starts deploy/monitoring.yml beside the shape, whose certificate is fullchain.pem, with the guide's two commands. */
export const expectToBeWatched = async (
  shape: Shape,
  { configure, test }: { configure: string; test: string },
): Promise<void> => {
  const monitored = {
    COMPOSE_FILE: `${shape.composeFile}:deploy/monitoring.yml:tools/compose/watched.yml`,
    PUBLIC_BASE_URL: 'https://pay.example.com',
  };
  for (const way of ['webhook', 'heartbeat'])
    writeFileSync(
      join(shape.folder, `secrets/alerts-${way}-url`),
      `${shape.receiver.url}/${way}\n`,
    );
  await shape.sh(configure, monitored);
  // By name: the guide's `up` would start Grafana, of which nothing here is an image.
  const started = 'prometheus blackbox disk alertmanager monitoring-door';
  await shape.sh(`docker compose up --detach --no-deps ${started}`, monitored);

  const query = (expression: string) =>
    shape
      .sh(`curl -s http://localhost:9090/api/v1/query --data-urlencode 'query=${expression}'`)
      .then(
        (text) =>
          JSON.parse(text).data.result as {
            metric: Record<string, string>;
            value: [number, string];
          }[],
      )
      .catch(() => []);
  const valueOf = async (expression: string) => Number((await query(expression))[0]?.value[1]);
  const jobs = await until(
    'all targets are up',
    async () => {
      const up = await query('up == 1');
      return up.length === 11 && up.map(({ metric }) => metric['job']);
    },
    180_000,
  );
  expect(new Set(jobs)).toEqual(
    new Set(
      ['payments-api', 'payments-worker', 'temporal', 'alertmanager'].concat([
        ...['public', 'console', 'disk'],
      ]),
    ),
  );
  for (const job of ['public', 'console'])
    await until(`${job} answers`, async () => (await valueOf(`probe_success{job="${job}"}`)) === 1);
  const daysLeft = await valueOf('(probe_ssl_earliest_cert_expiry{job="public"} - time()) / 86400');
  expect(daysLeft).toBeGreaterThan(29);
  // Its page waits for two minutes. The next steps need neither of them.
  await shape.sh('docker compose stop console proxy');

  const statusOf = (...headers: string[]) =>
    shape.sh(
      `curl -s -o /dev/null -w '%{http_code}' ${headers.map((one) => `-H '${one}'`).join(' ')} http://localhost:9093/api/v2/silences`,
    );
  await until('the door leads to Alertmanager', async () => (await statusOf()) === '200');
  expect(await statusOf('Origin: http://localhost:9093')).toBe('200');
  expect(await statusOf('Origin: https://evil.example')).toBe('403');
  expect(await statusOf('Host: evil.example:9093')).toBe('421');
  const rules = await shape.sh('curl -s http://localhost:9090/api/v1/rules');
  expect(rules).toContain('PaymentsApiDown');

  const disks = await query('node_filesystem_avail_bytes / node_filesystem_size_bytes');
  expect(new Set(disks.map(({ metric }) => metric['mountpoint']))).toEqual(
    new Set(['/watched/backups', '/watched/postgres', '/watched/prometheus']),
  );
  expect(await valueOf('max(payments_backup_age_seconds)')).toBeLessThan(600);
  expect(await valueOf('sum(persistence_requests)')).toBeGreaterThan(0);

  const said = (name: string) => () =>
    shape.receiver.arrivals.some(({ body }) => body.includes(`"alertname":"${name}"`));
  await until('the heartbeat arrives', said('PaymentsWatchdog'), 120_000);
  await shape.sh(test, monitored);
  await until('the test arrives', said('PaymentsTest'), 120_000);

  for (const job of ['public', 'console'])
    await until(
      `${job} is missed`,
      async () => (await valueOf(`probe_success{job="${job}"}`)) === 0,
      120_000,
    );
  await until('the page arrives', said('PaymentsPublicAddressDown'), 300_000);
  await shape.sh('docker compose up --detach --wait');
  await shape.sh(`docker compose rm --stop --force --volumes ${started}`, monitored);
  await shape.sh(
    'docker volume rm payments-trial_prometheus payments-trial_alertmanager',
    monitored,
  );
};
