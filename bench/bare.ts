import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { z } from 'zod';
import { openLog } from '../stack/logs.ts';
import { freePort } from '../stack/ports.ts';
import { startProgram } from '../stack/processes.ts';
import type { Bounds, Finished } from './load.ts';
import { type Http, orderBody } from './payers.ts';

/** The argument of the bare processes, as JSON. */
export interface Setup {
  databaseUrl: string;
  temporal: { address: string; namespace: string };
  bundlePath: string;
  port: number;
  queue: string;
  /** Its workers are relieved of what the service's are: worker/workflow-thread.ts. */
  isLean: boolean;
}

export interface BareOptions {
  folder: string;
  databaseUrl: string;
  temporal: Setup['temporal'];
  http: Http;
  workers?: number;
  isLean?: boolean;
}

const here = import.meta.dirname;
const Finished = z.object({ count: z.int(), elapsedMs: z.number() });
const Row = z.object({ id: z.string() });

const bundle = async (path: string): Promise<void> => {
  const workflowsPath = join(here, 'bare/workflow.ts');
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    preloadModules: [workflowsPath],
    logger: new DefaultLogger('ERROR'),
  });
  writeFileSync(path, code);
};

/** Starts the ceilings: an API and workers that do the least there is, on the same servers as ours. */
export const startBare = async (options: BareOptions) => {
  const { folder, databaseUrl, temporal, http, workers = 1, isLean = false } = options;
  const queue = isLean ? 'bare-lean' : 'bare';
  const bundlePath = join(folder, 'bare-workflow.js');
  if (!existsSync(bundlePath)) await bundle(bundlePath);
  const port = await freePort();
  const setup: Setup = { databaseUrl, temporal, bundlePath, port, queue, isLean };
  const start = (name: 'api' | 'worker') =>
    startProgram({
      name: `The ${name} of ${queue}`,
      args: [join(here, `bare/${name}.ts`), JSON.stringify(setup)],
      env: {},
      stopMs: 3000,
      log: openLog(folder, `${queue}-${name}`),
    });
  const [api, worker, ...others] = await Promise.all([
    start('api'),
    ...Array.from({ length: workers }, () => start('worker')),
  ]);
  if (!worker) throw new Error('A bare API needs a worker');
  const url = `http://127.0.0.1:${port}`;

  return {
    pids: { api: api.pid, worker: worker.pid },

    /** Runs workflows of three activities without work, from start to result. */
    async runWorkflows(bounds: Bounds): Promise<Finished> {
      const body = JSON.stringify(bounds);
      const { text } = await http.call({
        method: 'POST',
        url: `${url}/workflows`,
        body,
        expect: 200,
      });
      return Finished.parse(JSON.parse(text));
    },

    async insert(order: string): Promise<string> {
      const body = orderBody(order);
      const { text } = await http.call({ method: 'POST', url: `${url}/rows`, body, expect: 201 });
      return Row.parse(JSON.parse(text)).id;
    },
    select: (id: string) => http.call({ method: 'GET', url: `${url}/rows/${id}`, expect: 200 }),

    stop: async () => {
      await Promise.all([api, worker, ...others].map((process) => process.stop()));
    },
  };
};
export type Bare = Awaited<ReturnType<typeof startBare>>;
