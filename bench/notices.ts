import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { connect } from '../postgres/driver/connection.ts';
import type { Bench } from './environment.ts';
import { compared, type Figure, type Round } from './figure.ts';
import { quantile, steadily } from './load.ts';
import { startReceiver } from './receiver.ts';
import { startShape } from './shape.ts';

/** The answer of a mail server to a line, or to a new connection, which has none; undefined: it is silent. */
type Behaviour = (socket: Socket, line?: string) => string | undefined;

const well: Behaviour = (_, line) =>
  line === undefined ? '220 here' : line.startsWith('DATA') ? '354 go on' : '250 ok';
const refusing =
  (answer: string): Behaviour =>
  (socket, line) =>
    line?.startsWith('MAIL') ? answer : well(socket, line);

const troubles: Readonly<Record<string, Behaviour>> = {
  'a mail server that is a black hole': () => undefined,
  'one that takes a second for each line': (socket, line) => {
    setTimeout(() => socket.write(`${well(socket, line)}\r\n`), 1_000).unref();
    return undefined;
  },
  'one that answers 451': refusing('451 later'),
  'one that answers 550': refusing('550 never'),
  'one that breaks off': (socket) => {
    socket.destroy();
    return undefined;
  },
};

const control = 'no notice again';

const rounds = [1, 2];
/** A round of notices has 30 s. Not more payments: a worker without a pause shows its own p99 alone. */
const load = { rate: 4, seconds: 32 };
const addresses = 300;

/** The latency of webhooks while notices are due at a mail server in trouble, beside that without any notice. */
export const measureNotices = async (bench: Bench): Promise<Figure[]> => {
  const { say, cleanup } = bench;
  using receiver = await startReceiver();
  const server = await startMailServer();
  cleanup.defer(async () => server.stop());
  const settings = {
    workerEnv: {
      ...{ SMTP_HOST: '127.0.0.1', SMTP_PORT: String(server.port) },
      SMTP_FROM: 'payments@pay.example',
    },
  };
  await using shape = await startShape(bench, {
    name: 'Notices',
    processes: 1,
    settings,
    receiver,
  });
  const sql = connect(shape.databaseUrl, { name: 'bench', max: 1 });
  cleanup.defer(() => sql.end({ timeout: 1 }));
  await sql`
    insert into notice_addresses (application, address, confirmed_at)
    select 'shop', 'ops' || n || '@shop.example', now() from generate_series(1, ${addresses}::int) n`;
  const p99 = async (): Promise<number> => {
    const arrivals = await steadily(load, shape.pay);
    return quantile(
      arrivals.map(({ latencyMs }) => latencyMs),
      0.99,
    );
  };

  const beside = async (behave: Behaviour): Promise<number> => {
    server.behave(behave);
    const before = server.connections();
    await sql`
      insert into notices (application, kind, state_since, address, created_at, next_try_at)
      select application, 'failing', now(), address, now(), now() from notice_addresses`;
    const latency = await p99();
    if (server.connections() === before) throw new Error('Nobody has asked the mail server');
    await sql`delete from notices`;
    return latency;
  };

  const samples = new Map<string, Round[]>(
    [...Object.keys(troubles), control].map((name) => [name, []]),
  );
  for (const round of rounds) {
    // The last one shows the error of the method.
    for (const [name, behave] of [...Object.entries(troubles), [control] as const]) {
      say(`Notices: round ${round} of ${rounds.length}, ${name} …`);
      const measure = () => (behave ? beside(behave) : p99());
      // In turn, because the second finds a warmer machine.
      const first = round % 2 === 0 ? await measure() : undefined;
      const ceiling = await p99();
      samples.get(name)?.push({ ceiling, ours: first ?? (await measure()) });
    }
  }
  return [...samples].map(([trouble, each]) => {
    const name = `outcome → webhook, p99, ${trouble}`;
    return compared({ name, unit: 'ms', ceilingName: 'no notice' }, each);
  });
};

const startMailServer = async () => {
  let behave: Behaviour = well;
  let connections = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    const answer = (line?: string) => {
      const text = behave(socket, line);
      if (text !== undefined) socket.write(`${text}\r\n`);
    };
    answer();
    socket.setEncoding('utf8').on('data', (lines: string) => answer(lines));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    behave(next: Behaviour) {
      behave = next;
    },
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};
