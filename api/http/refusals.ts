import type { RefusedRequest } from '../../postgres/applications/refused-requests.ts';
import type { Logger } from '../../telemetry/log.ts';

const flushMs = 1_000;
/** A process keeps so many of one application and mode in a second. A client in a loop must not fill the table's log. */
const perApplication = 20;
const textMax = 200;

interface Deps {
  insert: (requests: readonly RefusedRequest[]) => Promise<void>;
  logger: Pick<Logger, 'error'>;
}

/** Postgres has no text with a zero byte or half a character. */
const shown = (text: string): string =>
  text
    .slice(0, textMax)
    .toWellFormed()
    .replaceAll('\0', '\u{fffd}')
    .replaceAll(/(svc_(?:live|test)_|whsec_)[\w+/=-]*/g, '$1…');

/** Its name is what somebody typed: perhaps a payer's name or a secret, which no form tells from a name of a field. */
const unknownField = 'unknown_field';

/** Collects the requests of applications that were refused, and writes them together: no response waits for it. */
export const createRefusals = ({ insert, logger }: Deps) => {
  let waiting: RefusedRequest[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  const write = async (): Promise<void> => {
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
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    return (writing = writing.then(write));
  };
  return {
    record(request: RefusedRequest): void {
      const { application, test, fields } = request;
      const own = waiting.filter(
        (other) => other.application === application && other.test === test,
      );
      if (own.length >= perApplication) return;
      const kept = fields?.map(({ path, rule, message }) =>
        rule === unknownField
          ? { path: '', rule, message: 'has a field that is not known' }
          : { path: shown(path), rule, message: shown(message) },
      );
      waiting.push({ ...request, fields: kept ?? null });
      timer ??= setTimeout(() => void flush(), flushMs);
    },
    /** Writes what waits. */
    stop: flush,
  };
};
export type Refusals = ReturnType<typeof createRefusals>;
