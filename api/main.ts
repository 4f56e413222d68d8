import { once } from 'node:events';
import { readApiConfig } from '../config.ts';
import { connect } from '../postgres/connection.ts';
import { withDeadline } from '../postgres/deadline.ts';
import { createLogger, runProcess, SetupError } from '../process.ts';
import { closeGently, createHttpServer } from './server.ts';
import { connectClient } from './temporal.ts';
import { createService } from './service.ts';

await runProcess(async () => {
  const config = readApiConfig();
  const logger = createLogger('api', config.LOG_LEVEL);
  const sql = connect(config.DATABASE_URL, { name: 'payments-api', max: 8 });
  await sql`select from payments limit 1`.catch((error: unknown) => {
    throw new SetupError(
      `The database is not usable (${String(error)}): check DATABASE_URL and that it is migrated.`,
    );
  });
  const probe = connect(config.DATABASE_URL, { name: 'payments-api-probe', max: 1 });
  const client = connectClient(config.temporal);
  const service = createService({
    sql: withDeadline(sql, probe),
    client,
    logger,
    publicBaseUrl: config.PUBLIC_BASE_URL,
    trustedProxies: config.TRUSTED_PROXIES,
    payerPagesPerMinute: config.PAYER_PAGES_PER_MINUTE,
    keyRing: config.SECRETS_KEY,
  });

  const server = createHttpServer(service.handler);
  server.listen(config.API_PORT, config.API_HOST);
  await Promise.race([
    once(server, 'listening'),
    once(server, 'error').then(([error]) => {
      throw new SetupError(
        `The API cannot listen on ${config.API_HOST}:${config.API_PORT} (${String(error)}): set API_PORT to a free port.`,
      );
    }),
  ]);
  logger.info({ port: config.API_PORT }, 'Listening');

  return async () => {
    await closeGently(server, {
      graceMs: config.SHUTDOWN_GRACE_SECONDS * 1000,
      beginStop: service.beginStop,
    });
    await service.stop();
    await client.connection.close();
    await Promise.all([sql.end({ timeout: 5 }), probe.end({ timeout: 5 })]);
  };
});
