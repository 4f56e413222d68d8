import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Client, Connection, isGrpcServiceError } from '@temporalio/client';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { readTemporalConfig } from '../config.ts';
import { parseWholeNumber } from '../contract/whole-number.ts';
import { runOnce, SetupError } from '../process.ts';
import { buildBundle } from './workflow-bundle.ts';

const mostReplayed = 100_000;
const mostShown = 20;
const connectTimeoutMs = 5_000;
/** `unknown`: the replay did not happen, or not for all workflows. */
const exitCodes = { same: 0, different: 1, unknown: 2 } as const;

/**
 * Replays the open workflows of a running server with the workflows of this checkout, or of
 * WORKFLOW_BUNDLE, before a deploy. It changes nothing on the server. With `--reset`, after the way back to an older
 * version: those that a newer one has taken another way begin again, and find in Postgres how far they have come.
 */
await runOnce(async () => {
  const { limit, query, reset } = readArguments();
  const { temporal, WORKFLOW_BUNDLE: path } = readTemporalConfig();
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: 'OFF' } },
  });
  const workflowBundle = path ? { code: readFileSync(path, 'utf8') } : await buildBundle();
  const connection = await Connection.connect({
    ...temporal.connectionOptions,
    connectTimeout: connectTimeoutMs,
  }).catch((error: unknown) => {
    throw new SetupError(
      `Could not connect to Temporal within ${connectTimeoutMs / 1000} s: start it, or set TEMPORAL_ADDRESS.`,
      {
        cause: error,
      },
    );
  });
  try {
    const client = new Client({ connection, namespace: temporal.namespace });
    const { workflow } = client;
    const open = ["ExecutionStatus = 'Running'", ...(query ? [`(${query})`] : [])].join(' AND ');
    const { count } = await workflow.count(open).catch((error: unknown) => {
      throw new SetupError(
        `Could not list the open workflows (${reasonOfRpc(error)}): correct TEMPORAL_NAMESPACE or --query.`,
      );
    });
    const histories = takeFirst(limit, workflow.list({ query: open }).intoHistories());
    let replayed = 0;
    let different = 0;
    for await (const { workflowId, error } of Worker.runReplayHistories(
      { workflowBundle },
      histories.items,
    )) {
      replayed += 1;
      if (!error) continue;
      different += 1;
      if (different <= mostShown)
        console.log(`${workflowId} does not replay: ${reasonOfReplay(error)}`);
      if (reset) await beginAgain(client, workflowId);
    }
    console.log(`Replayed ${replayed} of ${count} open workflows, the newest first.`);
    const { text, code } = verdictOf({ replayed, different, reset, hasMore: histories.hasMore });
    console.log(text);
    process.exitCode = code;
  } finally {
    await connection.close();
  }
}, exitCodes.unknown);

function readArguments(): { limit: number; query: string | undefined; reset: boolean } {
  try {
    const { values } = parseArgs({
      options: {
        limit: { type: 'string', default: String(mostReplayed) },
        query: { type: 'string' },
        reset: { type: 'boolean', default: false },
      },
    });
    const limit = parseWholeNumber(values.limit, { min: 1, max: mostReplayed });
    if (limit !== undefined) return { limit, query: values.query, reset: values.reset };
  } catch {
    // An unknown option: the usage below answers it.
  }
  throw new SetupError(
    `Usage: npm run replay-open -- [--limit ${mostReplayed}] [--query "StartTime < '2026-01-01T00:00:00Z'"] [--reset]`,
  );
}

/** Resets a workflow to its first task: Temporal ends the run, and a new one gets its input and its signals. */
async function beginAgain({ workflow, workflowService, options }: Client, workflowId: string) {
  const { events } = await workflow.getHandle(workflowId).fetchHistory();
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  // It may have ended since.
  if (!first?.eventId) return;
  await workflowService.resetWorkflowExecution({
    namespace: options.namespace,
    workflowExecution: { workflowId },
    workflowTaskFinishEventId: first.eventId,
    requestId: randomUUID(),
    reason: 'a newer version had taken another way',
  });
}

/** @returns the first items; `hasMore` is valid once they have been read */
function takeFirst<T>(limit: number, all: AsyncIterable<T>) {
  const taken = { hasMore: false, items: take() };
  async function* take(): AsyncGenerator<T> {
    let count = 0;
    for await (const item of all) {
      taken.hasMore = count === limit;
      if (taken.hasMore) return;
      yield item;
      count += 1;
    }
  }
  return taken;
}

/** The SDK wraps its own sentence in several others. */
function reasonOfReplay({ message }: Error): string {
  return /\[TMPRL\d+\] [^"\\]+/.exec(message)?.[0] ?? message.split('\n', 1)[0] ?? '';
}

/** The client wraps the server's reason in a sentence that says less. */
function reasonOfRpc(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return isGrpcServiceError(cause) ? cause.details : String(error);
}

/** Workflows that close during the replay are not replayed, so the count before it does not matter. */
function verdictOf(seen: {
  replayed: number;
  different: number;
  reset: boolean;
  hasMore: boolean;
}) {
  if (seen.different > 0 && seen.reset && !seen.hasMore)
    return { text: `${seen.different} begin again.`, code: exitCodes.same };
  if (seen.different > 0)
    return {
      text: `${seen.different} do not replay: put the change behind patched(), see docs/operating/changing-workflows.md.`,
      code: exitCodes.different,
    };
  if (seen.replayed === 0)
    return {
      text: 'There was no open workflow to replay: check the namespace.',
      code: exitCodes.unknown,
    };
  if (seen.hasMore)
    return {
      text: 'These replay, but there are more: raise --limit, or replay older ones with --query.',
      code: exitCodes.unknown,
    };
  return { text: 'All of them replay.', code: exitCodes.same };
}
