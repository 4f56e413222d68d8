import { type ErrorCode, errors, PaymentError } from '../../contract/errors.ts';
import { limits } from '../../contract/limits.ts';
import { isPostgresUnavailable } from '../../postgres/driver/error-codes.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { AnyRequest, HandlerResult, Route } from './route.ts';
import { errorCodes } from './route.ts';

const retryAfterSeconds = 5;

/** This process handles as many requests as it may. */
export class OverloadedError extends PaymentError {
  constructor() {
    super('SERVICE_UNAVAILABLE', 'Too many requests are running.');
  }
}

/** The parts of a browser's request that a page depends on. */
export type BrowserRequest = Pick<AnyRequest, 'header' | 'search'>;

/** Renders an error for a payer's browser. */
export type ErrorPage = (failed: {
  status: number;
  error: PaymentError;
  requestId: string;
  /** Seconds until the page reloads by itself; undefined if a repetition does not help. */
  retryAfter: number | undefined;
  request: BrowserRequest;
}) => Promise<HandlerResult>;

interface Context {
  requestId: string;
  /** Undefined when no route matched. */
  route: Route | undefined;
  /** A payer's browser has asked for what is no page. */
  forPayer?: boolean;
  request: BrowserRequest;
  logger: Pick<Logger, 'error'>;
  errorPage: ErrorPage;
}

/** The one place where an error becomes a response: JSON for applications, a page for payers. */
export const errorResponse = async (
  error: unknown,
  context: Context,
): Promise<HandlerResult & { code: ErrorCode }> => {
  const { route, requestId, forPayer = false } = context;
  const known = toPaymentError(error, context);
  const { status } = errors[known.code];
  const retryAfter = known.details?.retry_after ?? (status === 503 ? retryAfterSeconds : undefined);
  const isLost = forPayer && (status === 401 || status === 404);
  if (route?.access === 'payer' || isLost) {
    const { request } = context;
    const page = await context.errorPage({ status, error: known, requestId, retryAfter, request });
    const headers = { ...page.headers, 'content-type': 'text/html; charset=utf-8' };
    return { ...page, headers, code: known.code };
  }
  const headers: Record<string, string> = {
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
  };
  const { code, message, details } = withFewerFields(known);
  const body = { code, message, ...(details && { details }), request_id: requestId };
  return { status, headers, body: JSON.stringify({ error: body }), code };
};

/** Keeps the first problems only: a request of unknown names has thousands, many times its own size. */
const withFewerFields = ({ code, message, details }: PaymentError) => {
  const { fields = [] } = details ?? {};
  if (fields.length <= limits.reportedProblems) return { code, message, details };
  return {
    code,
    message: `${message} These are the first ${limits.reportedProblems} of ${fields.length} problems.`,
    details: { ...details, fields: fields.slice(0, limits.reportedProblems) },
  };
};

const toPaymentError = (error: unknown, { route, logger }: Context): PaymentError => {
  if (error instanceof PaymentError) {
    if (error.cause !== undefined)
      logger.error({ err: error.cause, code: error.code }, 'Request failed');
    if (!route || errorCodes(route).includes(error.code)) return error;
    logger.error(
      { err: error, route: route.path },
      'A route failed with a code that it does not declare; responding INTERNAL',
    );
    return new PaymentError('INTERNAL');
  }
  logger.error({ err: error }, 'Request failed unexpectedly');
  return isPostgresUnavailable(error)
    ? new PaymentError('SERVICE_UNAVAILABLE', 'The service is not available at the moment.')
    : new PaymentError('INTERNAL');
};
