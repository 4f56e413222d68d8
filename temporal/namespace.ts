import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import type { Client } from '@temporalio/client';
import { isGrpcServiceError } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { searchAttributes } from './start-options.ts';

const { IndexedValueType } = proto.temporal.api.enums.v1;

/** Temporal keeps closed workflows this long: resets, operators' searches and healing need them. */
export const historyRetention = '30 days';

const setupLimitMs = 60_000;
const searchableLimitMs = 10_000;

/**
 * Creates the namespace with its search attributes, and waits for a server that is still starting.
 * Safe to repeat: an existing namespace keeps its retention.
 * @returns whether the namespace is new
 */
export const createNamespace = async (client: Client): Promise<boolean> => {
  const until = Date.now() + setupLimitMs;
  const isNew = await retryUntil(until, () => registerNamespace(client));
  // The server's parts learn of a new namespace one after the other.
  await retryUntil(until, () => addSearchAttributes(client));
  return isNew;
};

const registerNamespace = async (client: Client): Promise<boolean> => {
  try {
    await client.workflowService.registerNamespace({
      namespace: client.options.namespace,
      workflowExecutionRetentionPeriod: msToTs(historyRetention),
    });
    return true;
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === status.ALREADY_EXISTS) return false;
    throw error;
  }
};

/** Adds the search attributes that the namespace lacks, and waits until Temporal accepts them. */
export const addSearchAttributes = async (client: Client): Promise<void> => {
  const { namespace } = client.options;
  const { operatorService } = client.connection;
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const names = Object.values(searchAttributes).map(({ name }) => name);
  const missing = names.filter((name) => !Object.hasOwn(customAttributes, name));
  if (missing.length > 0)
    await operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(
        missing.map((name) => [name, IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD]),
      ),
    });
  // The server reloads a namespace every few seconds and refuses starts with unknown attributes until
  // then. A worker that finds attributes that another worker has just added waits, too. If it takes
  // longer than the limit, the sweeper starts the refused workflows.
  const query = names.map((name) => `${name} = 'none'`).join(' AND ');
  await retryUntil(Date.now() + searchableLimitMs, () => client.workflow.count(query)).catch(
    () => {},
  );
};

/** Acts again while Temporal is busy or away, for a minute: a process that starts meanwhile has nothing to correct. */
export const untilTemporalAnswers = (act: () => Promise<void>): Promise<void> =>
  retryUntil(Date.now() + setupLimitMs, act, isBusyOrAway);

const isBusyOrAway = (error: unknown): boolean => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return (
    isGrpcServiceError(cause) &&
    // The native connection says CANCELLED where its own deadline has passed.
    [status.CANCELLED, status.DEADLINE_EXCEEDED, status.UNAVAILABLE].includes(cause.code)
  );
};

const retryUntil = async <T>(
  until: number,
  act: () => Promise<T>,
  mayPass: (error: unknown) => boolean = () => true,
): Promise<T> => {
  for (;;)
    try {
      return await act();
    } catch (error) {
      if (!mayPass(error) || Date.now() > until) throw error;
      await sleep(500);
    }
};
