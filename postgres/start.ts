import { readDatabaseConfig } from '../config.ts';
import { createLogger } from '../telemetry/log.ts';
import { runOnce, SetupError } from '../process.ts';
import { connect } from './driver/connection.ts';
import { migrate } from './migrate.ts';

/** Migrates the database to this version's schema. Run it before each deploy; running it again is harmless. */
await runOnce(async () => {
  const { DATABASE_URL: url } = readDatabaseConfig();
  const sql = connect(url, { name: 'payments-migrations', max: 1, patient: true });
  try {
    const applied = await migrate(sql).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new SetupError(`The database could not be migrated: ${reason}`);
    });
    createLogger('migrations', 'info').info({ applied }, 'The schema is up to date');
  } finally {
    await sql.end({ timeout: 5 });
  }
});
