import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Client, Connection, isGrpcServiceError } from '@temporalio/client';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { readTemporalConfig } from '../config.ts';
import { runOnce, SetupError } from '../process.ts';
import { buildBundle } from './workflow-bundle.ts';

const mostTried = 100_000;
const mostShown = 20;
const connectTimeoutMs = 5_000;
/** 0: all replay; 1: at least one does not; 2: it could not be found out, or not of all. */
const exitCodes = { same: 0, different: 1, unknown: 2 } as const;

const readArguments = (): { limit: number; query: string | undefined } => {
  try {
    const { values } = parseArgs({
      options: { limit: { type: 'string', default: String(mostTried) }, query: { type: 'string' } },
    });
    const limit = Number(values.limit);
    if (Number.isInteger(limit) && limit >= 1 && limit <= mostTried)
      return { limit, query: values.query };
  } catch {
    // Said below.
  }
  throw new SetupError(
    `Usage: npm run replay-open -- [--limit ${mostTried}] [--query "StartTime < '2026-01-01T00:00:00Z'"]`,
  );
};

/** `cut` says afterwards whether there were more. */
const first = <T>(limit: number, all: AsyncIterable<T>) => {
  const taken = { cut: false, all: take() };
  async function* take(): AsyncGenerator<T> {
    let count = 0;
    for await (const each of all) {
      taken.cut = count === limit;
      if (taken.cut) return;
      yield each;
      count += 1;
    }
  }
  return taken;
};

/** The SDK wraps its own sentence in several others. */
const reasonOf = ({ message }: Error): string =>
  /\[TMPRL\d+\] [^"\\]+/.exec(message)?.[0] ?? message.split('\n', 1)[0] ?? '';

/** The client wraps what the server says of a query in a sentence that says less. */
const detailsOf = (error: unknown): string => {
  const cause = error instanceof Error ? error.cause : undefined;
  return isGrpcServiceError(cause) ? cause.details : String(error);
};

/** Those that ended meanwhile need not be tried, so how many were open before does not count. */
const verdictOf = (seen: { tried: number; different: number; cut: boolean }) => {
  if (seen.different > 0) {
    const cure = 'put the change behind patched(), see docs/operating/deploying.md.';
    return { said: `${seen.different} do not replay: ${cure}`, code: exitCodes.different };
  }
  if (seen.tried === 0)
    return { said: 'None was there to be tried: is it that namespace?', code: exitCodes.unknown };
  if (seen.cut)
    return {
      said: 'These replay, but there are more: raise --limit, or try older ones by --query.',
      code: exitCodes.unknown,
    };
  return { said: 'All of them replay.', code: exitCodes.same };
};

/**
 * Before a deploy: replays the open workflows of a running server against the workflows of this
 * checkout, or those of WORKFLOW_BUNDLE. It changes nothing there.
 */
await runOnce(async () => {
  const { limit, query } = readArguments();
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
    throw new SetupError('Temporal cannot be reached: start it, or set TEMPORAL_ADDRESS.', {
      cause: error,
    });
  });
  try {
    const { workflow } = new Client({ connection, namespace: temporal.namespace });
    const open = ["ExecutionStatus = 'Running'", ...(query ? [`(${query})`] : [])].join(' AND ');
    const { count } = await workflow.count(open).catch((error: unknown) => {
      throw new SetupError(
        `The open workflows cannot be listed (${detailsOf(error)}): correct TEMPORAL_NAMESPACE or --query.`,
      );
    });
    const histories = first(limit, workflow.list({ query: open }).intoHistories());
    let tried = 0;
    let different = 0;
    for await (const { workflowId, error } of Worker.runReplayHistories(
      { workflowBundle },
      histories.all,
    )) {
      tried += 1;
      if (!error) continue;
      different += 1;
      if (different <= mostShown) console.log(`${workflowId} does not replay: ${reasonOf(error)}`);
    }
    console.log(`Tried ${tried} of ${count} open workflows, the newest first.`);
    const { said, code } = verdictOf({ tried, different, cut: histories.cut });
    console.log(said);
    process.exitCode = code;
  } finally {
    await connection.close();
  }
}, exitCodes.unknown);
