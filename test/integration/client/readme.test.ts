import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventExamples } from '../../../api/payments/payment-examples.ts';
import { sign } from '../../../client/src/webhooks.ts';
import { packAndInstall } from '../../support/client/install.ts';
import { noOldNode, oldNode } from '../../support/client/old-node.ts';
import { programs } from '../../support/client/readme.ts';
import { compile, postTo, runRecipe, writePrograms } from '../../support/client/receivers.ts';
import { forFile } from '../../support/for-file.ts';
import { useService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';

const { application } = packAndInstall();
const problems = writePrograms(application);
const service = await forFile(useService());

describe('the programs of the README', () => {
  it('compile strictly with nodenext', () => {
    expect(problems).toBe('');
  });

  it('compile strictly with node16', () => {
    expect(compile(application, 'node16')).toBe('');
  });
});

describe('the first payment of the README', () => {
  it('has 15 lines at most', () => {
    expect(programs['first-payment.ts'].trim().split('\n').length).toBeLessThanOrEqual(15);
  });

  it.for([
    ['this Node', process.execPath, 'first-payment.ts'] as const,
    ['Node 20', oldNode, 'compiled/first-payment.js'] as const,
  ])('prints the address of the checkout on %s', async ([, node, file], { skip }) => {
    if (node === undefined) return skip(noOldNode);
    const { token } = await service.anApplication();
    const output = execFileSync(node, [join(application, file)], {
      encoding: 'utf8',
      env: { PAYMENTS_TOKEN: token, PAYMENTS_BASE_URL: service.url },
    });
    expect(output).toMatch(/^http:\S+\/checkout\n$/);
  });
});

it('the shop of the README tells the payers of a paid order', async () => {
  const { journey, token } = await service.anApplication({ ordersPaidOnce: true });
  const order = { order_id: `order-${randomUUID()}` };
  const [paid, second] = [await journey.atGateway(order), await journey.atGateway(order)];
  await journey.choose(paid, 'pay');
  await until('one is paid, and the other one is called off', async () => {
    await journey.verify(paid);
    return (await journey.get(second)).json['failure_code'] === 'order_already_paid';
  });
  const program = `
    import { afterReturn, startPaying } from './orders.ts';
    console.log(await startPaying('${order.order_id}', 1250));
    for (const id of ['${paid}', '${second}']) console.log(await afterReturn(id));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: application,
    encoding: 'utf8',
    env: { PAYMENTS_TOKEN: token, PAYMENTS_BASE_URL: service.url },
  });
  expect(output.trim().split('\n')).toEqual([
    `The order is paid: ${paid}`,
    'paid',
    expect.stringContaining('goes back to you by itself'),
  ]);
});

describe.each(['receiver.js', 'express.ts', 'koa.ts', 'next.ts', 'hono.ts'] as const)(
  'the receiver %s of the README',
  (name) => {
    it('is short', () => {
      const lines = programs[name].split('\n').filter((line) => line && !line.startsWith('import'));
      expect(lines.length).toBeLessThanOrEqual(14);
    });

    it('handles a signed event, and nothing else', async () => {
      const secret = `whsec_${'k'.repeat(43)}`;
      const node = process.execPath;
      const { url, output, stop } = await runRecipe(application, { name, node, secret });
      onTestFinished(stop);
      const body = Buffer.from(JSON.stringify(eventExamples.paid));
      const forged = await sign({ body, secret: `${secret}x` });
      expect(await postTo(url, { body, signature: forged })).toBe(400);
      expect(await postTo(url, { body, signature: await sign({ body, secret }) })).toBe(204);
      const handled = `Verified: payment.paid of ${eventExamples.paid.order_id}`;
      await expect.poll(output, { timeout: 60_000 }).toContain(handled);
      expect(output().split('Verified')).toHaveLength(2);
    });
  },
);
