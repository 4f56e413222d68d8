import { Client, Connection } from '@temporalio/client';
import { readTemporalConfig } from '../config.ts';
import { createLogger } from '../telemetry/log.ts';
import { runOnce, SetupError } from '../process.ts';
import { createNamespace } from '../temporal/namespace.ts';

/** Creates the namespace and its search attributes: once per installation, safe to repeat. */
await runOnce(async () => {
  const { connectionOptions, namespace } = readTemporalConfig().temporal;
  const connection = Connection.lazy(connectionOptions);
  try {
    const client = new Client({ connection, namespace });
    const created = await createNamespace(client).catch((error: unknown) => {
      throw new SetupError(
        `Could not create the namespace ${namespace} (${String(error)}): start Temporal, or correct TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.`,
      );
    });
    createLogger('setup-namespace', 'info').info({ namespace, created }, 'The namespace is ready');
  } finally {
    await connection.close();
  }
});
