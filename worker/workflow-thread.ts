/*
 * Symptom: a third of a worker's CPU serves nobody. The SDK takes the stack of every promise of a workflow, for the query
 * `__stack_trace` alone. It enters a workflow with a `timeout`, for which Node starts a thread each time. And it composes
 * the facts of log lines that the logger then drops.
 * Upstream: https://github.com/nodejs/node/issues/47739 (the thread). The SDK has no option for any of them.
 * Remove when: it has.
 * Lost: the tab "Call stack" of Temporal's UI. A workflow that loops for ever blocks its thread, so `watch` ends the process
 * after 10 s; with the timeout its task failed after 5 s.
 */
import { createRequire } from 'node:module';
import v8 from 'node:v8';
import vm from 'node:vm';
import workerThreads from 'node:worker_threads';
import { LoggerWithComposedMetadata } from '@temporalio/common';

/** What the main thread tells the thread. */
interface ThreadData {
  /** The SDK's file for the thread. */
  file: string;
  /** Counts the entries into workflows and the exits: it is odd while the thread is in one. */
  entries: Int32Array<SharedArrayBuffer>;
}

const sdkFile = 'workflow-worker-thread.js';
const tickMs = 1_000;
const longestTicks = 10;

/**
 * Has the SDK's threads for workflows do only what serves somebody. To be called before the first worker is created.
 * @param isStuck a workflow has kept its thread for 10 s
 */
export const leanWorkflowThreads = (isStuck: () => void): void => {
  const { Worker } = workerThreads;
  workerThreads.Worker = class extends Worker {
    constructor(file: string | URL, options: workerThreads.WorkerOptions = {}) {
      if (!String(file).endsWith(sdkFile)) {
        super(file, options);
        return;
      }
      const entries = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
      const workerData: ThreadData = { file: String(file), entries };
      super(new URL(import.meta.url), { ...options, workerData });
      const watching = watch(entries, isStuck);
      this.once('exit', () => clearInterval(watching));
    }
  };
  const drop = () => {};
  Object.assign(LoggerWithComposedMetadata.prototype, { trace: drop, debug: drop });
};

/** By ticks, not by the clock: a process that was stopped for an hour has not looped for an hour. */
const watch = (entries: Int32Array, isStuck: () => void) => {
  let [seen, ticks] = [0, 0];
  return setInterval(() => {
    const now = Atomics.load(entries, 0);
    ticks = now % 2 !== 0 && now === seen ? ticks + 1 : 0;
    seen = now;
    if (ticks === longestTicks) isStuck();
  }, tickMs).unref();
};

const runInThread = ({ file, entries }: ThreadData): void => {
  Object.assign(v8.promiseHooks, {
    createHook() {
      // The SDK goes on without it, and says so on stderr, where all other lines are JSON.
      const { warn } = console;
      console.warn = () => {
        console.warn = warn;
      };
      throw new Error('Stacks of promises are off');
    },
  });
  const { runInContext } = vm.Script.prototype;
  let depth = 0;
  vm.Script.prototype.runInContext = function (context, options) {
    depth += 1;
    if (depth === 1) Atomics.add(entries, 0, 1);
    try {
      return runInContext.call(this, context, { ...options, timeout: undefined });
    } finally {
      depth -= 1;
      if (depth === 0) Atomics.add(entries, 0, 1);
    }
  };
  createRequire(import.meta.url)(file);
};

const data = workerThreads.workerData as Partial<ThreadData> | null;
if (!workerThreads.isMainThread && data?.file?.endsWith(sdkFile)) runInThread(data as ThreadData);
