import { Client, Connection } from '@temporalio/client';
import { readTemporalConfig } from '../config.ts';
import { createLogger } from '../telemetry/log.ts';
import { runOnce, SetupError } from '../process.ts';
import { createNamespace } from '../temporal/namespace.ts';

/** Once per installation, and again whenever one likes: the namespace and its search attributes. */
await runOnce(async () => {
  const { connectionOptions, namespace } = readTemporalConfig().temporal;
  const connection = Connection.lazy(connectionOptions);
  try {
    const client = new Client({ connection, namespace });
    const created = await createNamespace(client).catch((error: unknown) => {
      throw new SetupError(
        `The namespace ${namespace} cannot be made (${String(error)}): start Temporal, or correct TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.`,
      );
    });
    createLogger('prepare', 'info').info({ namespace, created }, 'The namespace is there');
  } finally {
    await connection.close();
  }
});
