import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { readProjectFile } from '../../support/checks/project-files.ts';
import { forFile } from '../../support/for-file.ts';
import { useService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';

const service = await forFile(useService());
const readme = readProjectFile('README.md');
const [, block = ''] = /```sh\n(TOKEN=[^`]*curl [^`]*)```/.exec(readme) ?? [];
/** The headers and the body of the README's request, as a shell reads it. */
const readRequest = () => {
  const script = `npm() { echo svc_test_token; }
curl() { for word in "$@"; do printf '%s\\n' "$word"; done; }\n${block}`;
  const words = execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trimEnd().split('\n');
  const valuesOf = (option: string) => words.filter((_, index) => words[index - 1] === option);
  const headers = Object.fromEntries(valuesOf('-H').map((line) => line.split(': ', 2)));
  return { key: String(headers['Idempotency-Key']), body: String(valuesOf('-d')) };
};
const [, response = ''] = /```json\n(\{[^`]*\})\n```/.exec(readme) ?? [];
const [, head = '', event = ''] = /```http\n([^`]*?)\n\n(\{[^`]*\})\n```/.exec(readme) ?? [];

/** Ids, times, addresses and names differ from payment to payment. All else is the same, and so is the order. */
const shapeOf = (text: string): string =>
  text
    .replaceAll(/PAY_\w{26}/g, 'PAY_')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00/g, 'TIME')
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'HOST')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID')
    .replaceAll(/order-\d{10}/g, 'ORDER')
    .replaceAll(/("application":)"[^"]*"/g, '$1"NAME"')
    .replaceAll(/("tracking_code":)"\d+"/g, '$1"CODE"')
    .replaceAll(/(timestamp: |t=)\d{10}/gi, '$1SECONDS')
    .replaceAll(/v1=[0-9a-f]{64}/g, 'v1=DIGEST')
    .replaceAll('\n', '');

it('the README shows the response and the webhook of a payment as they are', async () => {
  const { journey } = await service.anApplication({ ordersPaidOnce: true });
  const { key, body: request } = readRequest();
  expect(key).toMatch(/^order-\d{10}-try-1$/);
  const created = await journey.request('POST', '/api/v1/payments', request, {
    'idempotency-key': key,
  });
  expect(created.status, created.text).toBe(201);
  expect(shapeOf(response)).toBe(shapeOf(created.text));

  const id = String(created.json['payment_id']);
  await until('the checkout', async () => (await journey.checkout(id)).status === 302);
  await journey.choose(id, 'pay');
  await journey.verify(id);
  const { headers, body } = await until('the webhook', () => service.receiver.of(id)[0]);
  expect(shapeOf(event)).toBe(shapeOf(body.toString()));
  const [, ...lines] = head.split('\n');
  const shown = lines.map((line) => [line.split(': ', 1)[0]!, line.replace(/^[\w-]+: /, '')]);
  for (const [name = '', value = ''] of shown)
    expect(shapeOf(`${name}: ${value}`)).toBe(
      shapeOf(`${name}: ${String(headers[name.toLowerCase()])}`),
    );
  expect(shown.map(([name = '']) => name.toLowerCase())).toEqual([
    ...['accept', 'content-type', 'user-agent'],
    ...Object.keys(headers).filter((name) => name.startsWith('x-service-')),
  ]);
});
