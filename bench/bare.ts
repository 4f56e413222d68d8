import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { z } from 'zod';
import { startChild } from '../stack/child.ts';
import { openLog } from '../stack/logs.ts';
import { freePort } from '../stack/ports.ts';
import type { Setup } from './bare/setup.ts';
import type { Http } from './http.ts';
import type { Bounds, Finished } from './load.ts';
import { orderBody } from './payments.ts';

export interface BareOptions {
  folder: string;
  databaseUrl: string;
  temporal: Setup['temporal'];
  http: Http;
  signal: AbortSignal;
  /** How many; one by default. */
  workers?: number;
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

/** The ceilings: an API and a worker that do the least there is, on the same servers as ours. */
export const startBare = async (options: BareOptions) => {
  const { folder, databaseUrl, temporal, http, signal, workers: count = 1 } = options;
  const bundlePath = join(folder, 'bare-workflow.js');
  await bundle(bundlePath);
  const port = await freePort();
  const setup: Setup = { databaseUrl, temporal, bundlePath, port };
  const start = (name: 'api' | 'worker') =>
    startChild({
      name: `The bare ${name}`,
      args: [join(here, `bare/${name}.ts`), JSON.stringify(setup)],
      env: {},
      stopMs: 3000,
      log: openLog(folder, `bare-${name}`, () => {}),
      onSpawn: () => {},
      signal,
    });
  const [api, worker, ...others] = await Promise.all([
    start('api'),
    start('worker'),
    ...Array.from({ length: count - 1 }, () => start('worker')),
  ]);
  const url = `http://127.0.0.1:${port}`;

  const loop = async (path: string, bounds: Bounds): Promise<Finished> => {
    const body = JSON.stringify(bounds);
    const { text } = await http.call({ method: 'POST', url: `${url}${path}`, body, expect: 200 });
    return Finished.parse(JSON.parse(text));
  };
  return {
    pids: { api: api.pid, worker: worker.pid },

    /** Three activities that do nothing, from start to result. */
    runWorkflows: (bounds: Bounds) => loop('/workflows', bounds),
    /** As these, with all else that the engine does for a paid payment. */
    runShapes: (bounds: Bounds) => loop('/shapes', bounds),
    startWorkflows: (bounds: Bounds) => loop('/starts', bounds),

    async insert(order: string): Promise<string> {
      const body = orderBody(order);
      const { text } = await http.call({ method: 'POST', url: `${url}/rows`, body, expect: 201 });
      return Row.parse(JSON.parse(text)).id;
    },
    select: (id: string) => http.call({ method: 'GET', url: `${url}/rows/${id}`, expect: 200 }),

    stop: async () => {
      await Promise.all([api, worker, ...others].map(({ stop }) => stop()));
    },
  };
};
export type Bare = Awaited<ReturnType<typeof startBare>>;
