import { Client, Connection } from '@temporalio/client';
import { readEngineConfig } from '../config.ts';
import { createLogger, runOnce } from '../process.ts';
import { createNamespace } from './namespace.ts';

/** Once per installation, and again whenever one likes: the namespace and its search attributes. */
await runOnce(async () => {
  const { connectionOptions, namespace } = readEngineConfig().temporal;
  const connection = Connection.lazy(connectionOptions);
  try {
    const created = await createNamespace(new Client({ connection, namespace }));
    createLogger('prepare', 'info').info({ namespace, created }, 'The namespace is there');
  } finally {
    await connection.close();
  }
});
