import { execFile, execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { startStripe } from '../../test/fakes/stripe.ts';
import { startEngine } from './engine.ts';
import { loadBaseImages } from './images.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const override = 'tools/compose/override.yml';

export interface Answer {
  status: number;
  /** The address to which a browser is sent. */
  location: string;
  body: string;
}

export interface Call {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
  /** A client address of the shape. */
  from?: string;
}

/** A webhook as it arrived. */
export interface Arrival {
  eventId: string;
  paymentId: string;
  event: string;
  body: string;
  isSigned: boolean;
}

/** A copy of the checkout as an operator has it, on a Docker Engine of its own, with nothing started. */
export const createShape = async () => {
  const engine = await startEngine();
  const folder = mkdtempSync(join(tmpdir(), 'payments-shape-'));
  const receiver = await startReceiver(engine.hostAddress);
  const stripe = await startStripe({ host: engine.hostAddress, mode: 'live' });
  const stop = async () => {
    await receiver.stop();
    await stripe.stop();
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    copyCheckout(folder);
    await loadBaseImages(engine);
  } catch (error) {
    await stop();
    throw error;
  }
  const composeFile = `docker-compose.yml:deploy/trial.yml:${override}`;
  const env = {
    ...engine.env,
    COMPOSE_FILE: composeFile,
    RECEIVER: receiver.url,
    STRIPE: stripe.url,
    // This machine's engine may be an older one, and has no neighbours.
    ALLOW_OLD_DOCKER: 'true',
    // The file's own is what the guide writes into .env: a trial has no public address.
    PUBLIC_BASE_URL: 'http://localhost:8000',
  };
  /** Runs where the ports of 127.0.0.1 are. @returns its output. @throws Error with its output */
  const sh = async (script: string, variables: Record<string, string> = {}): Promise<string> => {
    const args = ['--net=/run/netns/payments-compose', 'sh', '-euc', script];
    const { stdout } = await run('nsenter', args, {
      cwd: folder,
      env: { ...env, ...variables },
      maxBuffer: 1 << 26,
    });
    return stdout.trimEnd();
  };
  return {
    folder,
    composeFile,
    sh,
    receiver,
    stripe,
    clientAddresses: engine.clientAddresses,
    /** Over TLS, at the proxy's published port. */
    call: (path: string, call: Call = {}) => callProxy(engine.address, path, call),
    stop,
  };
};
export type Shape = Awaited<ReturnType<typeof createShape>>;

const copyCheckout = (folder: string) => {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
  });
  for (const path of listed.toString().split('\0').filter(Boolean))
    if (!path.startsWith('test/'))
      cpSync(join(root, path), join(folder, path), { recursive: true });
  // The script names its files itself.
  const trial = join(folder, 'deploy/first-purchase.sh');
  const script = readFileSync(trial, 'utf8');
  const its = '--file deploy/trial.yml';
  if (!script.includes(its)) throw new Error(`deploy/first-purchase.sh has no ${its}`);
  writeFileSync(trial, script.replace(its, `${its} --file ${override}`));
};

const callTimeoutMs = 30_000;

const callProxy = async (
  host: string,
  path: string,
  { method = 'GET', headers = {}, body = '', from }: Call,
): Promise<Answer> => {
  const sent = request({
    ...{ host, path, method, servername: 'localhost', rejectUnauthorized: false, agent: false },
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    timeout: callTimeoutMs,
    ...(from !== undefined && { localAddress: from }),
  });
  sent.on('timeout', () => sent.destroy(new Error('No answer in time')));
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return {
    status: response.statusCode ?? 0,
    location: response.headers.location ?? '',
    body: await text(response),
  };
};

/** Takes every webhook, and tells whether it was signed with the secret of its application. */
const startReceiver = async (host: string) => {
  const arrivals: Arrival[] = [];
  let secret = '';
  const server = createServer((req, res) => {
    void text(req).then((body) => {
      const { event_id: eventId, payment_id: paymentId, event } = JSON.parse(body);
      const header = String(req.headers['x-service-signature']);
      const [time = ''] = /(?<=t=)\d+/.exec(header) ?? [];
      const expected = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
      arrivals.push({ eventId, paymentId, event, body, isSigned: header.includes(expected) });
      res.writeHead(204).end();
    });
  });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    arrivals,
    /** Sets the secret of the application that receives. */
    expectSecret: (given: string) => {
      secret = given;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
