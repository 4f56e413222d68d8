import { PaymentsError } from './errors.ts';
import { createList } from './pages.ts';
import type {
  IsAnswer,
  Operation,
  RequestFacts,
  RequestOptions,
  ResponseFacts,
  Settings,
} from './request.ts';
import { checkedLimits, send } from './request.ts';
import { contractVersion } from './types.ts';
import type * as api from './types.ts';
import { version } from './version.ts';

export interface PaymentsOptions {
  /** `svc_live_…` or `svc_test_…`. It stays on the server. */
  token: string;
  /** The address of the service, without `/api/v1`. */
  baseUrl: string;
  /** Instead of the runtime's own. */
  fetch?: typeof fetch | undefined;
  /** The deadline of each try. 30 seconds by default. */
  timeoutMs?: number | undefined;
  /** Tries after the first. 2 by default. */
  maxRetries?: number | undefined;
  /** The application's name and version, added to the `User-Agent`. */
  userAgent?: string | undefined;
  /** Sees each try when it begins, and when it has ended: for logs and metrics. */
  onRequest?: ((request: RequestFacts) => void) | undefined;
  onResponse?: ((response: ResponseFacts) => void) | undefined;
  /** A page shows the token to everybody who opens it. */
  dangerouslyAllowBrowser?: boolean | undefined;
}

export interface CreateOptions extends RequestOptions {
  /**
   * The same in each try and after a restart: for instance the order's id with the number of its payment.
   * The service keeps a payment's key for 24 hours, and a refund's as long as the refund. Without one the client
   * makes a key for this call.
   */
  idempotencyKey?: string | undefined;
}

/** The payments API. Each method is one route. */
export class Payments {
  /** As the token's prefix says. A program can make sure of it when it starts. */
  readonly mode: 'live' | 'test';
  readonly #settings: Settings;

  constructor(options: PaymentsOptions) {
    const { token, fetch: given, timeoutMs = 30_000, maxRetries = 2 } = options;
    if (runtime.window?.document && options.dangerouslyAllowBrowser !== true)
      throw new PaymentsError(
        'The token must not be in a browser: everybody could read it there. ' +
          'For tests in jsdom set dangerouslyAllowBrowser.',
      );
    const mode = /^svc_(live|test)_[0-9A-Za-z]+$/.exec(token)?.[1];
    if (mode !== 'live' && mode !== 'test')
      throw new PaymentsError('The token is not one of the service: svc_live_… or svc_test_….');
    const userAgent = [ownUserAgent(), options.userAgent ?? ''].join(' ').trim();
    if (/[^\x20-\x7e]/.test(userAgent))
      throw new PaymentsError('userAgent must be printable ASCII.');
    this.mode = mode;
    this.#settings = checkedLimits({
      token,
      baseUrl: checkedBaseUrl(options.baseUrl),
      // Bound: the runtime's fetch must not be called as a method. Late: it may be patched after this.
      fetch: given ?? ((...request) => fetch(...request)),
      userAgent,
      timeoutMs,
      maxRetries,
      onRequest: options.onRequest,
      onResponse: options.onResponse,
    });
  }

  /** The calling application. */
  me(options?: RequestOptions) {
    return this.#get<api.Application>(isAnswer.application, ['me'], undefined, options);
  }

  readonly gateways = {
    /** The gateways that take new payments, the application's own first: what they take, and whether they open payments now. */
    list: (query: api.ListGateways = {}, options?: RequestOptions) =>
      this.#get<api.GatewayList>(isAnswer.list, ['gateways'], query, options),
  };

  readonly payments = {
    /** Creates a payment. Send the payer to its `checkout_url`. */
    create: (payment: api.CreatePayment, { idempotencyKey, ...options }: CreateOptions = {}) =>
      this.#post<api.Payment>(isAnswer.payment, ['payments'], options, {
        body: payment,
        idempotencyKey: idempotencyKey ?? crypto.randomUUID(),
      }),
    get: (paymentId: string, options?: RequestOptions) =>
      this.#get<api.Payment>(isAnswer.payment, ['payments', paymentId], undefined, options),
    /** Newest first. */
    list: (query: api.ListPayments = {}, options?: RequestOptions) =>
      createList<api.Payment, api.PaymentList, api.ListPayments>(query, (each) =>
        this.#get(isAnswer.page, ['payments'], each, options),
      ),
    /** Asks the gateway for the outcome now. */
    verify: (paymentId: string, options?: RequestOptions) =>
      this.#post<api.Payment>(isAnswer.payment, ['payments', paymentId, 'verify'], options),
    /** Calls a payment off that nobody has paid. */
    cancel: (paymentId: string, cancel: api.CancelPayment = {}, options?: RequestOptions) =>
      this.#post<api.Payment>(isAnswer.payment, ['payments', paymentId, 'cancel'], options, {
        body: cancel,
      }),

    refunds: {
      /** Gives money back; by default everything that is left. The token needs the scope `refund`. */
      create: (
        paymentId: string,
        refund: api.CreateRefund = {},
        { idempotencyKey, ...options }: CreateOptions = {},
      ) =>
        this.#post<api.Refund>(isAnswer.refund, ['payments', paymentId, 'refunds'], options, {
          body: refund,
          idempotencyKey: idempotencyKey ?? crypto.randomUUID(),
        }),
      /** Newest first. */
      list: (paymentId: string, query: api.ListRefundsOfPayment = {}, options?: RequestOptions) =>
        createList<api.Refund, api.RefundList, api.ListRefundsOfPayment>(query, (each) =>
          this.#get(isAnswer.page, ['payments', paymentId, 'refunds'], each, options),
        ),
    },

    disputes: {
      /** Newest first. */
      list: (paymentId: string, query: api.ListDisputesOfPayment = {}, options?: RequestOptions) =>
        createList<api.Dispute, api.DisputeList, api.ListDisputesOfPayment>(query, (each) =>
          this.#get(isAnswer.page, ['payments', paymentId, 'disputes'], each, options),
        ),
    },
  };

  readonly refunds = {
    get: (refundId: string, options?: RequestOptions) =>
      this.#get<api.Refund>(isAnswer.refund, ['refunds', refundId], undefined, options),
    /** Newest first. */
    list: (query: api.ListRefunds = {}, options?: RequestOptions) =>
      createList<api.Refund, api.RefundList, api.ListRefunds>(query, (each) =>
        this.#get(isAnswer.page, ['refunds'], each, options),
      ),
    /** Calls a refund off while nothing was sent to the gateway. */
    cancel: (refundId: string, options?: RequestOptions) =>
      this.#post<api.Refund>(isAnswer.refund, ['refunds', refundId, 'cancel'], options),
  };

  readonly disputes = {
    get: (disputeId: string, options?: RequestOptions) =>
      this.#get<api.Dispute>(isAnswer.dispute, ['disputes', disputeId], undefined, options),
    /** Newest first. */
    list: (query: api.ListDisputes = {}, options?: RequestOptions) =>
      createList<api.Dispute, api.DisputeList, api.ListDisputes>(query, (each) =>
        this.#get(isAnswer.page, ['disputes'], each, options),
      ),
  };

  readonly links = {
    /** Makes a link. Send its `url` to the payer. The token needs the scope `link`. */
    create: (link: api.CreateLink, { idempotencyKey, ...options }: CreateOptions = {}) =>
      this.#post<api.Link>(isAnswer.link, ['links'], options, {
        body: link,
        idempotencyKey: idempotencyKey ?? crypto.randomUUID(),
      }),
    get: (linkId: string, options?: RequestOptions) =>
      this.#get<api.Link>(isAnswer.link, ['links', linkId], undefined, options),
    /** Newest first. */
    list: (query: api.ListLinks = {}, options?: RequestOptions) =>
      createList<api.Link, api.LinkList, api.ListLinks>(query, (each) =>
        this.#get(isAnswer.page, ['links'], each, options),
      ),
    /** A disabled link begins no further payment. */
    disable: (linkId: string, options?: RequestOptions) =>
      this.#post<api.Link>(isAnswer.link, ['links', linkId, 'disable'], options),
  };

  readonly movements = {
    /** The movements of money, newest first. */
    list: (query: api.ListMovements = {}, options?: RequestOptions) =>
      createList<api.Movement, api.MovementList, api.ListMovements>(query, (each) =>
        this.#get(isAnswer.page, ['movements'], each, options),
      ),
  };

  readonly events = {
    get: (eventId: string, options?: RequestOptions) =>
      this.#get<api.EventDetail>(isAnswer.event, ['events', eventId], undefined, options),
    /** Newest first, or with `order: 'asc'` a feed that misses none. */
    list: (query: api.ListEvents = {}, options?: RequestOptions) =>
      createList<api.EventSummary, api.EventList, api.ListEvents>(query, (each) =>
        this.#get(isAnswer.page, ['events'], each, options),
      ),
    /** Delivers an event again. */
    replay: (eventId: string, options?: RequestOptions) =>
      this.#post<api.EventDetail>(isAnswer.event, ['events', eventId, 'replay'], options),
  };

  readonly replays = {
    /** Delivers the events of a time again: the exhausted ones, or with `delivery: 'delivered'` those. */
    create: (replay: api.CreateReplay & { dry_run?: false }, options?: RequestOptions) =>
      this.#post<api.Replay>(isAnswer.replay, ['replays'], options, { body: replay, once: true }),
    /** Counts the events of a time, and delivers none. */
    count: (replay: Omit<api.CreateReplay, 'dry_run'>, options?: RequestOptions) =>
      this.#post<api.ReplayPlan>(isAnswer.plan, ['replays'], options, {
        body: { ...replay, dry_run: true },
      }),
    get: (replayId: string, options?: RequestOptions) =>
      this.#get<api.Replay>(isAnswer.replay, ['replays', replayId], undefined, options),
    stop: (replayId: string, options?: RequestOptions) =>
      this.#post<api.Replay>(isAnswer.replay, ['replays', replayId, 'stop'], options),
  };

  readonly webhook = {
    /** The health of the receiver in the token's mode, and the number of events that wait for it. */
    get: (options?: RequestOptions) =>
      this.#get<api.Webhook>(isAnswer.webhook, ['webhook'], undefined, options),
    /** Sends a signed sample to the webhook URL, and returns what the receiver answered. */
    test: (sample: api.TestWebhook = {}, options?: RequestOptions) =>
      this.#post<api.WebhookTest>(isAnswer.test, ['webhook', 'test'], options, {
        body: sample,
        once: true,
      }),
  };

  #get<T>(isAnswer: IsAnswer, path: string[], query?: object, options?: RequestOptions) {
    return send<T>(this.#settings, { method: 'GET', isAnswer, path, query }, options);
  }
  #post<T>(
    isAnswer: IsAnswer,
    path: string[],
    options?: RequestOptions,
    request: Partial<Operation> = {},
  ) {
    return send<T>(this.#settings, { ...request, method: 'POST', isAnswer, path }, options);
  }
}

const hasText =
  (...names: string[]): IsAnswer =>
  (answer) =>
    names.every((name) => typeof answer[name] === 'string');
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/**
 * Whether a success is the service's: a cache or a proxy answers 200, too. It looks at the fields that every answer has.
 */
const isAnswer = {
  application: hasText('application', 'token_mode'),
  payment: hasText('payment_id', 'status'),
  refund: hasText('refund_id', 'status'),
  dispute: hasText('dispute_id', 'status'),
  link: hasText('link_id', 'status', 'url'),
  event: hasText('event_id', 'event'),
  replay: hasText('replay_id', 'status'),
  plan: ({ matched }) => typeof matched === 'number',
  test: (answer) => answer['response_status'] !== undefined && answer['error'] !== undefined,
  webhook: ({ state, waiting }) => typeof state === 'string' && typeof waiting === 'number',
  list: ({ data }) => Array.isArray(data) && data.every(isObject),
  page: ({ data, pagination }) =>
    Array.isArray(data) &&
    data.every(isObject) &&
    isObject(pagination) &&
    typeof pagination['has_more'] === 'boolean',
} satisfies Record<string, IsAnswer>;

const checkedBaseUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // Systems ask name servers about other names below localhost, and the token would go wherever these say.
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url?.hostname ?? '');
  if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && isLoopback))
    throw new PaymentsError('baseUrl must be an https address; http is for loopback only.');
  if (url.username || url.password || url.search || url.hash)
    throw new PaymentsError('baseUrl must have no user, no query and no fragment.');
  return (url.origin + url.pathname).replace(/\/+$/, '');
};

/** These fields differ between runtimes; the client needs none of them. */
const runtime = globalThis as unknown as {
  window?: { document?: unknown };
  process?: { versions?: { node?: string } };
  navigator?: { userAgent?: string };
};

const ownUserAgent = () => {
  const node = runtime.process?.versions?.node;
  const platform = node === undefined ? runtime.navigator?.userAgent : `node/${node}`;
  return `payments-client/${version} contract/${contractVersion} ${platform ?? ''}`.trim();
};
