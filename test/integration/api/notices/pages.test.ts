import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createNoticeAddresses } from '../../../../postgres/notices/addresses.ts';
import { createNoticeQueue } from '../../../../postgres/notices/queue.ts';
import { forFile } from '../../../support/for-file.ts';
import { useService } from '../../../support/service/service.ts';

const service = await forFile(useService());

/** A new address of a new application, with the token of its first mail. */
const anAddress = async (given?: string) => {
  const { application } = await service.anApplication();
  // An address is asked once a day.
  const address = given ?? `${application}@shop.example`;
  const addresses = createNoticeAddresses(service.sql);
  await addresses.insert(application, address);
  const token = randomBytes(32).toString('base64url');
  const due = await createNoticeQueue(service.sql).listDue(100);
  const notice = due.find((each) => each.application === application);
  if (!notice) return expect.fail('There is no notice');
  expect(await createNoticeQueue(service.sql).claim(notice, token)).toBe(true);
  const url = `${service.url}/api/v1/notices/${token}`;
  const state = async () => {
    const [found] = await addresses.list(application);
    return [found?.confirmedAt !== null, found?.unsubscribedAt !== null];
  };
  return { application, address, url, state };
};

const post = (url: string, init: RequestInit = {}) => fetch(url, { method: 'POST', ...init });

it('a link that a scanner opens changes nothing', async () => {
  const { url, state } = await anAddress();
  for (const path of ['', '/confirm'])
    for (const method of ['GET', 'HEAD']) {
      const answer = await fetch(`${url}${path}`, { method });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('set-cookie')).toBeNull();
      expect(answer.headers.get('content-security-policy')).toMatch(
        /default-src 'none'.*form-action 'self'/,
      );
    }
  expect(await state()).toEqual([false, false]);
});

it('a person agrees by the button of its page', async () => {
  const { application, url, state } = await anAddress();
  expect(await (await fetch(`${url}/confirm`)).text()).toContain('method="post"');
  expect((await post(`${url}/confirm`)).status).toBe(200);
  expect(await state()).toEqual([true, false]);
  expect(await (await fetch(`${url}/confirm`)).text()).toContain(application);
});

it('a mail program unsubscribes by one POST, and nothing brings the address back', async () => {
  const { url, state } = await anAddress();
  const oneClick = {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  };
  for (let time = 0; time < 2; time += 1) expect((await post(url, oneClick)).status).toBe(200);
  const form = new FormData();
  form.set('List-Unsubscribe', 'One-Click');
  expect((await post(url, { body: form })).status).toBe(200);
  await post(`${url}/confirm`);
  expect(await state()).toEqual([false, true]);
});

it('a link cannot be agreed to after 7 days, and can be ended still', async () => {
  const { application, url, state } = await anAddress();
  await service.sql`
    update notice_addresses set added_at = now() - interval '8 days' where application = ${application}`;
  expect(await (await post(`${url}/confirm`)).text()).toContain('over');
  expect(await state()).toEqual([false, false]);
  expect((await post(url)).status).toBe(200);
  expect(await state()).toEqual([false, true]);
});

it('any other link is a page with 404, also of a removed address', async () => {
  const { application, address, url } = await anAddress();
  await createNoticeAddresses(service.sql).delete(application, address);
  const other = `${service.url}/api/v1/notices`;
  for (const each of [url, `${other}/${'x'.repeat(43)}`, `${other}/x`, `${other}/%00`])
    for (const path of ['', '/confirm'])
      for (const method of ['GET', 'POST']) {
        const answer = await fetch(`${each}${path}`, { method });
        expect([answer.status, answer.headers.get('content-type')]).toEqual([
          404,
          expect.stringContaining('text/html'),
        ]);
      }
});
