import type { RefusedRequest } from '../../postgres/refused-requests.ts';
import type { Logger } from '../../telemetry/log.ts';

const flushMs = 1_000;
/** What a process keeps of one application in a second. A client in a loop must not fill the table's log. */
const perApplication = 20;

interface Deps {
  insert: (requests: readonly RefusedRequest[]) => Promise<void>;
  logger: Pick<Logger, 'error'>;
}

/** Collects the requests of applications that were refused, and writes them together: no response waits for it. */
export const createRefusals = ({ insert, logger }: Deps) => {
  let waiting: RefusedRequest[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const requests = waiting;
    waiting = [];
    if (requests.length === 0) return;
    try {
      await insert(requests);
    } catch (error) {
      // They are for convenience, and the log has each of them too.
      logger.error({ err: error }, 'Could not record refused requests');
    }
  };
  return {
    record(request: RefusedRequest): void {
      const { application } = request;
      const own = waiting.filter((other) => other.application === application);
      if (own.length >= perApplication) return;
      waiting.push(request);
      timer ??= setTimeout(() => void flush(), flushMs);
    },
    /** Writes what waits. */
    stop: flush,
  };
};
export type Refusals = ReturnType<typeof createRefusals>;
