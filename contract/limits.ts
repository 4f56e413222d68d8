/** What is kept to, and told in the published contract. */
export const limits = {
  /** Of a request's body. */
  bodyKb: 64,
  /** Of a request's first line and headers. */
  headKb: 16,
  /** Headers of a request. */
  headLines: 100,
  /** For these to arrive. */
  headSeconds: 10,
  /** For all of a request to arrive. */
  requestSeconds: 30,
  /** For an answer to be taken, from when all of it is there. */
  takenSeconds: 60,
  /** Requests on one connection that have no answer yet. */
  unanswered: 8,
  /** Problems that one answer tells. */
  problems: 50,
  /** Of an application, in a clock minute, unless an admin has set another number. */
  requestsPerMinute: 120,
  /** Of a client address, in a minute and in one process of the API. */
  failuresPerMinute: 20,
  /** How long after an answer its gateway is not asked again, by a verify or a return. */
  quietSeconds: 3,
  /** How long past its deadline a payment stays open whose gateway says the money is on its way. */
  graceMinutes: 15,
} as const;
