/** Minutes from the end of one attempt of a round to the next. Source: service interface, section 6.5. */
const attemptDelaysMinutes = [1, 5, 30, 120, 720] as const;

/** The limits that the service enforces and publishes in its API documentation. */
export const limits = {
  requestBodyKb: 64,
  /** Nested objects and arrays of a body. */
  jsonDepth: 32,
  /** The request line and the headers together. */
  requestHeadKb: 16,
  requestHeaders: 100,
  /** From the first byte of a request until its headers are complete. */
  requestHeadSeconds: 10,
  /** From the first byte of a request until it is complete. */
  requestSeconds: 30,
  /** Without traffic on a connection while a response is sent. */
  responseIdleSeconds: 60,
  /** Problems that one error response lists. */
  reportedProblems: 50,
  /** Requests of an application in a clock minute, unless an admin has set another number. */
  applicationRequestsPerMinute: 120,
  /** Failed requests of a client address in a minute, in one API process. */
  addressFailuresPerMinute: 20,
  /** Reports of a gateway about one payment in a minute, in one API process. */
  paymentReportsPerMinute: 20,
  /** Requests of a client address to the payer pages in a minute, unless the operator has set another number. */
  payerPagesPerMinute: 60,
  /** An idempotency key is kept at least this long. */
  idempotencyHours: 24,
  /** Entries of one page of a list. */
  perPage: 100,
  perPageDefault: 20,
  /** A list by `page` ends here; a cursor goes deeper. */
  listDepth: 10_000,
  /** The checkout waits this long for the gateway to open the payment. */
  checkoutSeconds: 10,
  /** One attempt of a delivery: name resolution, connection, TLS, and the response's headers. */
  attemptSeconds: 10,
  attemptDelaysMinutes,
  /** POSTs of a delivery in one round. */
  attemptsPerRound: attemptDelaysMinutes.length + 1,
  /** The last attempts of an event are shown. */
  attemptsShown: 100,
  /** A replay of one event within this time after its round, or its last attempt, started is the same replay. */
  replayReuseSeconds: 10,
  /** The longest time, and the most events, of a replay of many. */
  replayDays: 31,
  replayEvents: 100_000,
  replaysPerSecond: 10,
  /** Delivery rounds that one worker begins for replays, over all applications. */
  workerReplaysPerSecond: 20,
  /** The events that wait for a receiver are counted to this number, so that a long backlog costs no more. */
  receiverEvents: 1_000,
  /** Signed samples that an application may have sent to itself. */
  webhookTestsPerMinute: 6,
  /** For this long after a verification, a verify or a return gets its result without asking the gateway. */
  verifyReuseSeconds: 3,
  /** A payment whose gateway says that money is on its way stays open for this long after its deadline. */
  graceMinutes: 15,
} as const;
