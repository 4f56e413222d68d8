export { Payments, type CreateOptions, type PaymentsOptions } from './client.ts';
export {
  ApiError,
  ConnectionError,
  PaymentsError,
  SignatureError,
  TimeoutError,
  type SignatureProblem,
} from './errors.ts';
export { isKnownEvent, type KnownEvent } from './known-event.ts';
export type { List } from './pages.ts';
export type { Answer, Call, RequestFacts, RequestOptions, ResponseFacts } from './request.ts';
export * from './types.ts';
export { version } from './version.ts';
export * as webhooks from './webhooks.ts';
