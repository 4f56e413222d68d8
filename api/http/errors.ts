import { errors, PaymentError } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import { isAway } from '../../postgres/driver/connection.ts';
import type { Logger } from '../../telemetry/log.ts';
import { problemPage, retryingPage } from '../payer/pages.ts';
import type { Reply, Route } from './route.ts';
import { codesOf } from './route.ts';

const retryAfterSeconds = 5;

/** The one place where a failure becomes an answer: JSON for applications, a page for payers. */
export const toErrorReply = async (
  error: unknown,
  facts: { requestId: string; route: Route | undefined; logger: Pick<Logger, 'error'> },
): Promise<Reply> => {
  const known = toPaymentError(error, facts);
  const { status } = errors[known.code];
  const retryAfter = known.details?.retry_after ?? (status === 503 ? retryAfterSeconds : undefined);
  if (facts.route?.access === 'payer') {
    if (retryAfter !== undefined) return retryingPage(status, known.message, retryAfter);
    // Who comes back from paying must not read that it was the payment that did not work.
    const title = 'This page cannot be shown';
    return problemPage(status, title, `${known.message} (${facts.requestId})`);
  }
  const headers: Record<string, string> = {
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
  };
  const { code, message, details } = bounded(known);
  const body = { code, message, ...(details && { details }), request_id: facts.requestId };
  return { status, headers, body: JSON.stringify({ error: body }) };
};

/** A request of made-up names alone has thousands of problems, an answer many times its size: the first are told. */
const bounded = ({ code, message, details }: PaymentError) => {
  const { fields = [] } = details ?? {};
  if (fields.length <= limits.problems) return { code, message, details };
  return {
    code,
    message: `${message} They are the first ${limits.problems} of ${fields.length}.`,
    details: { ...details, fields: fields.slice(0, limits.problems) },
  };
};

const toPaymentError = (
  error: unknown,
  { route, logger }: { route: Route | undefined; logger: Pick<Logger, 'error'> },
): PaymentError => {
  if (error instanceof PaymentError) {
    if (error.cause !== undefined) logger.error({ err: error.cause, code: error.code }, 'Failed');
    if (!route || codesOf(route).includes(error.code)) return error;
    logger.error(
      { err: error, route: route.path },
      'A route answered with a code it does not declare',
    );
    return new PaymentError('INTERNAL');
  }
  logger.error({ err: error }, 'Failed unexpectedly');
  return isAway(error)
    ? new PaymentError('SERVICE_UNAVAILABLE', 'The service is not available at the moment.')
    : new PaymentError('INTERNAL');
};
