import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Router } from '@koa/router';
import Koa from 'koa';
import { connect } from '../../postgres/driver/connection.ts';
import { runProcess } from '../../process.ts';
import { connectClient } from '../../temporal/client.ts';
import type { Setup } from '../bare.ts';
import { type Bounds, closedLoop } from '../load.ts';

/**
 * The least that an API can do: one insert, one select, one workflow. A loop in this process starts the
 * workflows, because a client that gets a response for each of them would cost more.
 */
await runProcess(async () => {
  const { databaseUrl, temporal, port, queue } = JSON.parse(process.argv[2] ?? '') as Setup;
  const sql = connect(databaseUrl, { name: 'bench-bare', max: 20 });
  await sql`create table if not exists bare_rows (id text primary key, body text not null)`;
  const client = connectClient({
    connectionOptions: { address: temporal.address },
    namespace: temporal.namespace,
  });

  const router = new Router()
    .post('/rows', async (ctx) => {
      const body = await text(ctx.req);
      const id = randomUUID();
      await sql`insert into bare_rows (id, body) values (${id}, ${body})`;
      ctx.status = 201;
      ctx.body = JSON.stringify({ id });
    })
    .get('/rows/:id', async (ctx) => {
      const [row] = await sql<{ body: string }[]>`
        select body from bare_rows where id = ${ctx.params['id'] ?? ''}`;
      ctx.body = row?.body;
    })
    .post('/workflows', async (ctx) => {
      const bounds = JSON.parse(await text(ctx.req)) as Bounds;
      const finished = await closedLoop(bounds, () =>
        client.workflow.execute('bare', { workflowId: randomUUID(), taskQueue: queue }),
      );
      ctx.body = JSON.stringify(finished);
    });

  const handler = new Koa().use(router.routes()).callback();
  const server = createServer((req, res) => void handler(req, res));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return async () => {
    server.close();
    server.closeAllConnections();
    await client.connection.close();
    await sql.end({ timeout: 1 });
  };
});
