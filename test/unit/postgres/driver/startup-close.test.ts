import { createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '../../../../postgres/driver/connection.ts';
import { isPostgresUnavailable } from '../../../../postgres/driver/error-codes.ts';
import { listenOnLoopback } from '../../../support/servers/listen.ts';

/** A pool of one connection to a server that is not Postgres. */
const connectTo = async (onConnection: (socket: Socket) => void, settings = '') => {
  const server = createServer(onConnection);
  const port = await listenOnLoopback(server);
  const sql = connect(`postgres://anybody@127.0.0.1:${port}/any${settings}`, {
    name: 'tests',
    max: 1,
  });
  onTestFinished(async () => {
    await sql.end({ timeout: 1 });
    server.close();
  });
  return sql;
};

it.each(['', '?sslmode=verify-full'])(
  'rejects each query after one connection when a proxy has no Postgres behind it (%j)',
  async (settings) => {
    let connections = 0;
    const sql = await connectTo((socket) => {
      connections += 1;
      socket.once('data', () => socket.end()).on('error', () => {});
    }, settings);

    for (let nth = 1; nth <= 2; nth += 1) {
      const error: unknown = await sql`select 1`.catch((reason: unknown) => reason);
      expect([isPostgresUnavailable(error), connections]).toEqual([true, nth]);
    }
  },
);

it.each([
  ['nothing', '', /before it answered/],
  ['the answer of a web server', 'HTTP/1.1 400 Bad Request\r\n\r\n', /is not Postgres/],
  ['the answer of a shell server', 'SSH-2.0-OpenSSH_9.2\r\n', /is not Postgres/],
])('rejects the query when the server closes after %s', async (_, answer, reason) => {
  const sql = await connectTo((socket) => socket.once('data', () => socket.end(answer)));
  const error: unknown = await sql`select 1`.catch((thrown: unknown) => thrown);
  expect(String(error)).toMatch(reason);
  expect(isPostgresUnavailable(error)).toBe(true);
});

const message = (kind: string, content: string) => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + content.length);
  return Buffer.concat([Buffer.from(kind), length, Buffer.from(content)]);
};

// Nothing waits for a query of its own, so its rejection when the connection ends would be unhandled.
it('sends no query of its own on a new connection', async () => {
  const queries: string[] = [];
  const parameters = ['in_hot_standby', 'default_transaction_read_only'].map((name) =>
    message('S', `${name}\0off\0`),
  );
  // AuthenticationOk, ParameterStatus, ReadyForQuery.
  const accepted = Buffer.concat([message('R', '\0\0\0\0'), ...parameters, message('Z', 'I')]);
  const sql = await connectTo((socket) => {
    socket.once('data', () => {
      socket.write(accepted);
      socket.once('data', (query) => {
        queries.push(query.toString('latin1'));
        socket.destroy();
      });
    });
  });
  await expect(sql`select 42`).rejects.toThrow(/CONNECTION_CLOSED|ECONNREFUSED/);
  expect(queries).toEqual([expect.stringContaining('select 42')]);
});
