import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import Koa from 'koa';
import rawBody from 'raw-body';
import { z } from 'zod';
import { connectClient } from '../../temporal/client.ts';
import { connect } from '../../postgres/driver/connection.ts';
import { runProcess } from '../../process.ts';
import { verifyUpdate } from '../../temporal/messages.ts';
import { paymentStartOptions } from '../../temporal/start-options.ts';
import { closedLoop } from '../load.ts';
import { bareQueue, bareWorkflow, idleQueue, shapedWorkflow } from './queues.ts';
import { readSetup } from './setup.ts';
import type { shaped } from './workflow.ts';

/** A payer is away until the opening is over, or engine and workflow would do two things at once. */
const payerMs = 500;

const Bounds = z.object({ atOnce: z.int(), count: z.int(), limitMs: z.number() });

/**
 * What an API costs at the least: one insert, one select, one workflow. The workflows are begun here,
 * by a loop of this process, since a client that is told of each would cost more.
 */
await runProcess(async () => {
  const { databaseUrl, temporal, port } = readSetup();
  const sql = connect(databaseUrl, { name: 'bench-bare', max: 20 });
  await sql`create table if not exists bare_rows (id text primary key, body text not null)`;
  const { address, namespace } = temporal;
  const client = connectClient({ connectionOptions: { address }, namespace });

  const insert = async (ctx: Koa.Context) => {
    const body = await rawBody(ctx.req, { limit: '64kb', encoding: 'utf8' });
    const id = randomUUID();
    await sql`insert into bare_rows (id, body) values (${id}, ${body})`;
    ctx.status = 201;
    ctx.body = JSON.stringify({ id });
  };
  const select = async (ctx: Koa.Context) => {
    const id = ctx.path.slice('/rows/'.length);
    const [row] = await sql<{ body: string }[]>`select body from bare_rows where id = ${id}`;
    ctx.body = row?.body;
  };
  const loop = async (ctx: Koa.Context, work: (workflowId: string) => Promise<unknown>) => {
    const body = await rawBody(ctx.req, { encoding: 'utf8' });
    const finished = await closedLoop(Bounds.parse(JSON.parse(body)), () => work(randomUUID()));
    ctx.body = JSON.stringify(finished);
  };
  const shape = async (workflowId: string) => {
    const facts = { id: workflowId, application: 'bench', orderId: workflowId, gateway: 'none' };
    const terms = { amount: 1000, currency: 'IRR', expiresAt: new Date(Date.now() + 1_800_000) };
    const handle = await client.workflow.start<typeof shaped>(shapedWorkflow, {
      ...paymentStartOptions({ ...facts, ...terms }),
      taskQueue: bareQueue,
      args: [],
    });
    await sleep(payerMs);
    await handle.executeUpdate(verifyUpdate);
    await handle.result();
  };

  const app = new Koa();
  app.use(async (ctx) => {
    const { method, path } = ctx;
    if (method === 'GET' && path.startsWith('/rows/')) return select(ctx);
    if (method === 'POST' && path === '/rows') return insert(ctx);
    if (method === 'POST' && path === '/workflows')
      return loop(ctx, (workflowId) =>
        client.workflow.execute(bareWorkflow, { workflowId, taskQueue: bareQueue }),
      );
    if (method === 'POST' && path === '/shapes') return loop(ctx, shape);
    if (method === 'POST' && path === '/starts')
      return loop(ctx, (workflowId) =>
        client.workflow.start(bareWorkflow, { workflowId, taskQueue: idleQueue }),
      );
  });

  const handler = app.callback();
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
