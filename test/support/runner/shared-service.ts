import { connect } from '../../../postgres/driver/connection.ts';
import { createGateways, sandboxAccount } from '../../../postgres/gateways/gateways.ts';
import { freePort } from '../../../stack/ports.ts';
import {
  newKeys,
  serviceProcesses,
  type ServiceEnvironment,
  startBoth,
} from '../service/service.ts';

declare module 'vitest' {
  interface ProvidedContext {
    sharedService: ServiceEnvironment;
  }
}

export interface Options {
  /** The URL of a database `payments`, which is the template for its own. */
  postgresUrl: string;
  temporalAddress: string;
  workflowBundle: string;
}

const name = 'shared_service';

/** Starts the API and the worker that most tests of the API share. */
export const startSharedService = async (options: Options) => {
  const { postgresUrl, temporalAddress, workflowBundle } = options;
  await using connections = new AsyncDisposableStack();
  const own = (url: string) =>
    connections.adopt(connect(url, { name: 'tests', max: 1 }), (sql) => sql.end());
  const admin = own(postgresUrl.replace(/payments$/, 'postgres'));
  await admin`create database ${admin(name)} template payments`;
  const environment: ServiceEnvironment = {
    url: `http://127.0.0.1:${await freePort()}`,
    databaseUrl: postgresUrl.replace(/payments$/, name),
    temporalAddress,
    namespace: 'default',
    keys: newKeys(),
  };
  await createGateways(own(environment.databaseUrl)).insert(sandboxAccount);

  const processes = serviceProcesses(environment, {
    workflowBundle,
    // Limits by address would otherwise count the tests as one client.
    apiEnv: { TRUSTED_PROXIES: '127.0.0.1' },
  });
  const [api, worker] = [processes.api(), processes.worker()];
  const stop = async () => {
    await Promise.all([api.stop(), worker.stop()]);
  };
  await startBoth(api, worker).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { environment, stop };
};
