import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it arrived. */
export interface Call {
  at: number;
  method: string;
  /** With its query, as it was on the wire. */
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  json: Record<string, unknown>;
  form: URLSearchParams;
}

export interface Reply {
  status?: number;
  /** JSON, or text as it is. */
  body: unknown;
}

/**
 * What goes wrong with one call. `cut`: it never reaches the provider; all others are done there
 * first: `lost`: the answer never comes, `slow`: it takes for ever, `error`: HTTP 500, `busy`: 429,
 * `overdue`: 408, `moved`: a redirect, `html`, `odd` and `null`: something else than documented,
 * `huge`: the right answer in 2 MB.
 */
export const faults = [
  ...(['cut', 'lost', 'slow', 'error', 'busy', 'overdue'] as const),
  ...(['moved', 'html', 'odd', 'null', 'huge'] as const),
];
export type Fault = (typeof faults)[number];

/** The right words under a status that takes them back. */
const belied: Partial<Record<Fault, number>> = { error: 500, busy: 429, overdue: 408, moved: 302 };
const spoiled: Partial<Record<Fault, Reply>> = {
  html: { status: 200, body: '<html><body>Service is being maintained</body></html>' },
  odd: { status: 200, body: { hello: ['world'] } },
  null: { status: 200, body: 'null' },
};

/** Right in every word, and more of them than anybody reads. */
const swollen = ({ status, body }: Reply): Reply => ({
  ...(status !== undefined && { status }),
  body: { ...(body as object), more: 'x'.repeat(2_000_000) },
});

const spoil = (fault: Fault, done: Reply): Reply => {
  if (fault === 'huge') return swollen(done);
  const status = belied[fault];
  return status === undefined ? (spoiled[fault] ?? done) : { ...done, status };
};

/** A provider's protocol on loopback; `handle` is the provider itself. */
export const startStandIn = async (handle: (call: Call) => Reply | undefined) => {
  const calls: Call[] = [];
  const planned: { fault: Fault; path: RegExp }[] = [];
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
      const at = planned.findIndex((plan) => plan.path.test(path));
      const fault = at < 0 ? undefined : planned.splice(at, 1)[0]?.fault;
      if (fault === 'cut') return void req.socket.destroy();
      const done = handle(call) ?? { status: 404, body: { message: 'not found' } };
      if (fault === 'lost') return void req.socket.destroy();
      if (fault === 'slow') return undefined;
      const { status = 200, body } = fault ? spoil(fault, done) : done;
      res.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' });
      res.end(typeof body === 'string' ? body : JSON.stringify(body));
      return undefined;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // It listens on a TCP port.
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    /** The next call to such a path goes wrong. */
    fail(fault: Fault, path = /./) {
      planned.push({ fault, path });
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

/** What a provider's books say of a payment. */
export interface Entry {
  /** As it was on the wire. */
  amount: number;
  currency: string;
  paymentId: string;
  returnUrl: string;
  /** In the provider's own words. */
  state: string;
  /** How often money was taken, confirmed with effect, and given back. */
  charged: number;
  verified: number;
  reversed: number;
  trackingCode: string;
  card: string;
}

export const newEntry = (
  told: Pick<Entry, 'amount' | 'currency' | 'paymentId' | 'returnUrl' | 'state'>,
): Entry => ({
  ...told,
  charged: 0,
  verified: 0,
  reversed: 0,
  trackingCode: String(Math.floor(Math.random() * 1e9) + 1e9),
  card: '502229******1234',
});

/** How a payer's browser comes back. */
export interface Back {
  method: 'GET' | 'POST';
  url: string;
  fields?: Record<string, string>;
}

/** A provider: its server, its books, and the payer before its page. */
export interface Provider {
  url: string;
  calls: Call[];
  fail(fault: Fault, path?: RegExp): void;
  stop(): Promise<void>;
  book: Map<string, Entry>;
  /** The payer pays. */
  pay(reference: string): void | Promise<void>;
  /** It comes to this state by itself. */
  move(reference: string, state: string): void;
  /** Where the payer is sent then. */
  back(reference: string): Back;
}

export const entryIn = (book: Map<string, Entry>, reference: string): Entry => {
  const entry = book.get(reference);
  if (!entry) throw new Error(`The provider has no payment ${reference}`);
  return entry;
};
