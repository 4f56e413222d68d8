import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '../../../../postgres/driver/connection.ts';
import { listenOnLoopback } from '../../../support/servers/listen.ts';

const message = (kind: string, content: string) => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + content.length);
  return Buffer.concat([Buffer.from(kind), length, Buffer.from(content)]);
};

/** Accepts every login, and closes the connection at the first query. */
const startDyingServer = async () => {
  const queries: string[] = [];
  const server = createServer((socket) => {
    socket.once('data', () => {
      const parameters = ['in_hot_standby', 'default_transaction_read_only'].map((name) =>
        message('S', `${name}\0off\0`),
      );
      // AuthenticationOk, ParameterStatus, ReadyForQuery.
      socket.write(Buffer.concat([message('R', '\0\0\0\0'), ...parameters, message('Z', 'I')]));
      socket.once('data', (query) => {
        queries.push(query.toString('latin1'));
        server.close();
        socket.destroy();
      });
    });
  });
  return { queries, port: await listenOnLoopback(server) };
};

// An unhandled rejection fails the run of these tests.
it('sends no query of its own on a new connection', async () => {
  const { queries, port } = await startDyingServer();
  const sql = connect(`postgres://anybody@127.0.0.1:${port}/any`, { name: 'tests', max: 1 });
  onTestFinished(() => sql.end({ timeout: 1 }));

  await expect(sql`select 42`).rejects.toThrow(/CONNECTION_CLOSED|ECONNREFUSED/);
  expect(queries).toEqual([expect.stringContaining('select 42')]);
});
