import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received request. */
export interface Call {
  at: number;
  method: string;
  /** With its query, not decoded. */
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  json: Record<string, unknown>;
  form: URLSearchParams;
}

export interface FakeResponse {
  status?: number;
  /** Sent as JSON unless it is a string. */
  body: unknown;
}

/**
 * Faults of one call. `cut`: the connection closes before the provider acts. With all others the provider
 * acts first. `lost`: the connection closes without a response, `slow`: no response ever, `error`: HTTP 500,
 * `busy`: 429, `overdue`: 408, `moved`: a redirect, `html`, `odd` and `null`: an undocumented body, `huge`:
 * the right response in 3 MB.
 */
export const faults = [
  ...(['cut', 'lost', 'slow', 'error', 'busy', 'overdue'] as const),
  ...(['moved', 'html', 'odd', 'null', 'huge'] as const),
];
export type Fault = (typeof faults)[number];

/** The right body with another status. */
const otherStatuses: Partial<Record<Fault, number>> = {
  error: 500,
  busy: 429,
  overdue: 408,
  moved: 302,
};
const otherResponses: Partial<Record<Fault, FakeResponse>> = {
  html: { status: 200, body: '<html><body>Service is being maintained</body></html>' },
  odd: { status: 200, body: { hello: ['world'] } },
  null: { status: 200, body: 'null' },
};

/** The right response with 3 MB more. */
const enlarge = ({ status, body }: FakeResponse): FakeResponse => ({
  ...(status !== undefined && { status }),
  body: { ...(body as object), more: 'x'.repeat(3_000_000) },
});

const applyFault = (fault: Fault, response: FakeResponse): FakeResponse => {
  if (fault === 'huge') return enlarge(response);
  const status = otherStatuses[fault];
  return status === undefined ? (otherResponses[fault] ?? response) : { ...response, status };
};

/**
 * Serves a provider's protocol. `handle` is the provider; undefined is a 404.
 * @param host an address of this machine
 */
export const startFakeProvider = async (
  handle: (call: Call) => FakeResponse | undefined,
  host = '127.0.0.1',
) => {
  const calls: Call[] = [];
  const held: { path: RegExp; released: Promise<void> }[] = [];
  const planned: { fault: Fault; path: RegExp; body: RegExp | undefined }[] = [];
  let outage: { path: RegExp; by: Fault | FakeResponse } | undefined;
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { method = '', url: path = '', headers } = req;
      const isForm = headers['content-type'] === 'application/x-www-form-urlencoded';
      const form = new URLSearchParams(isForm ? text : '');
      const json = (isForm || text === '' ? {} : JSON.parse(text)) as Call['json'];
      const call = { at: Date.now(), method, path, headers, text, json, form };
      calls.push(call);
      const isTyped = text === '' || isForm || headers['content-type'] === 'application/json';
      if (!isTyped) return void res.writeHead(415).end();
      const at = planned.findIndex(
        (plan) =>
          (plan.path.test(path) || plan.path.test(`${method} ${path}`)) &&
          (plan.body?.test(text) ?? true),
      );
      const by = outage?.path.test(path) ? outage.by : undefined;
      const next = at < 0 ? undefined : planned.splice(at, 1)[0]?.fault;
      const fault = typeof by === 'string' ? by : next;
      if (fault === 'cut') return void req.socket.destroy();
      const own = typeof by === 'object' ? by : handle(call);
      const response = own ?? { status: 404, body: { message: 'not found' } };
      if (fault === 'lost') return void req.socket.destroy();
      if (fault === 'slow') return undefined;
      const { status = 200, body } = fault ? applyFault(fault, response) : response;
      const answer = () => {
        res.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' });
        res.end(typeof body === 'string' ? body : JSON.stringify(body));
      };
      const heldAt = held.findIndex((hold) => hold.path.test(path));
      if (heldAt < 0) answer();
      else void held.splice(heldAt, 1)[0]?.released.then(answer);
      return undefined;
    });
  });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // It listens on a TCP port.
  return {
    url: `http://${host}:${port}`,
    calls,
    /** The next call to this path, or method and path, with this in its body, fails. */
    fail(fault: Fault, path = /./, body?: RegExp) {
      planned.push({ fault, path, body });
    },
    /** Every call to this path fails like this, or gets this response and has no effect, until `by` is undefined. */
    failAll(path: RegExp, by: Fault | FakeResponse | undefined) {
      outage = by === undefined ? undefined : { path, by };
    },
    /** The provider acts on the next call to this path at once, and answers after the release. @returns what releases it */
    hold(path: RegExp): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.push({ path, released: promise });
      return resolve;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

/** A payment in the provider's book. */
export interface Entry {
  /** As it was on the wire. */
  amount: number;
  currency: string;
  paymentId: string;
  returnUrl: string;
  /** The provider's own status. */
  state: string;
  /** The money was captured, verified and returned this often. */
  charged: number;
  verified: number;
  reversed: number;
  trackingCode: string;
  card: string;
}

export const newEntry = (
  payment: Pick<Entry, 'amount' | 'currency' | 'paymentId' | 'returnUrl' | 'state'>,
): Entry => ({
  ...payment,
  charged: 0,
  verified: 0,
  reversed: 0,
  trackingCode: String(Math.floor(Math.random() * 1e9) + 1e9),
  card: '502229******1234',
});

/** The request of the payer's return. */
export interface Back {
  method: 'GET' | 'POST';
  url: string;
  fields?: Record<string, string>;
}

/** A fake provider: its server, its book, and the payer on its page. */
export interface Provider {
  url: string;
  calls: Call[];
  fail(fault: Fault, path?: RegExp, body?: RegExp): void;
  failAll(path: RegExp, by: Fault | FakeResponse | undefined): void;
  stop(): Promise<void>;
  book: Map<string, Entry>;
  /** The payer pays. */
  pay(reference: string): void | Promise<void>;
  /** Sets the provider's own status. */
  move(reference: string, state: string): void;
  /** The payer's return in the current state. */
  back(reference: string): Back;
  /** True: it refuses openings with data of a payer, and quotes them. Only where the driver sends some. */
  dislikePayers?(does: boolean): void;
}

export const entryIn = (book: ReadonlyMap<string, Entry>, reference: string): Entry => {
  const entry = book.get(reference);
  if (!entry) throw new Error(`The provider has no payment ${reference}`);
  return entry;
};

/** A test scripts the next calls of a provider, by the name of the operation. */
export const newScript = <Refusal>(book: ReadonlyMap<string, Entry>) => {
  const refusals = new Map<string, Refusal[]>();
  const responses = new Map<string, FakeResponse>();
  let dislikesPayers = false;
  let moved: { reference: string; state: string } | undefined;
  const move = (reference: string, state: string) => {
    entryIn(book, reference).state = state;
  };
  return {
    dislikesPayers: () => dislikesPayers,
    /** This call gets it instead of the answer of the provider. */
    next(name: string) {
      if (name === 'verify' && moved) move(moved.reference, moved.state);
      if (name === 'verify') moved = undefined;
      const response = responses.get(name);
      responses.delete(name);
      return { response, refusal: refusals.get(name)?.shift() };
    },
    /** For the test. */
    controls: {
      move,
      /** Refuses the next calls of an operation. */
      refuse: (name: string, ...next: Refusal[]) => void refusals.set(name, next),
      /** The next call of an operation gets this response and has no effect. */
      respondOnce: (name: string, response: FakeResponse) => void responses.set(name, response),
      /** Whether it refuses the data of payers, and quotes them. */
      dislikePayers: (does: boolean) => {
        dislikesPayers = does;
      },
      /** Sets this state just before the next verification. */
      moveBeforeNextVerify: (reference: string, state: string) => {
        moved = { reference, state };
      },
    },
  };
};
