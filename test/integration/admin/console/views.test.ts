import { expect, it } from 'vitest';
import { forFile } from '../../../support/for-file.ts';
import { type Person, startConsole } from '../../../support/service/console.ts';

const console = await forFile(startConsole());

const save = (person: Person, name: string, address: string) =>
  person.post('/views', { name, address });
const viewsOn = async (person: Person) => {
  const { text } = await person.get('/settings');
  return [...text.matchAll(/<li class="saved"><a href="([^"]*)"><bdi>([^<]*)/g)].map(
    ([, address, name]) => [name, address],
  );
};

it('a saved view is on every page of its person alone, and its name can get another list', async () => {
  const [ada, bob] = [await console.logIn('viewer', 'ada'), await console.logIn('viewer', 'bob')];
  const list = '/payments?status=failed&period=24+hours';
  const saved = await save(ada, ' Failed today ', list);
  expect([saved.status, saved.headers.location]).toEqual([303, list]);
  expect(await viewsOn(ada)).toEqual([['Failed today', list.replaceAll('&', '&amp;')]]);
  expect(await viewsOn(bob)).toEqual([]);
  await save(ada, 'Failed today', '/deliveries?status=failing');
  expect(await viewsOn(ada)).toEqual([['Failed today', '/deliveries?status=failing']]);

  await save(ada, 'To answer', '/disputes?status=needs_response');
  expect(await viewsOn(ada)).toContainEqual(['To answer', '/disputes?status=needs_response']);
  await ada.post('/views/remove', { name: 'To answer' });

  await bob.post('/views/remove', { name: 'Failed today' });
  expect(await viewsOn(ada)).toHaveLength(1);
  await ada.post('/views/remove', { name: 'Failed today' });
  expect(await viewsOn(ada)).toEqual([]);
});

it.each([
  ['no name', ' ', '/payments?'],
  ['a long name', 'x'.repeat(41), '/payments?'],
  ['another site', 'a', 'https://attacker.example/payments'],
  ['another site without a scheme', 'a', '//attacker.example/payments'],
  ['a page that is no list', 'a', '/logout?'],
  ['a secret', 'a', '/payments?order=svc_live_abcdefgh'],
])('a view with %s is not saved', async (_, name, address) => {
  const eve = await console.logIn('viewer', 'eve');
  expect((await save(eve, name, address)).status).toBe(409);
  expect(await viewsOn(eve)).toEqual([]);
});

it('a person has twenty views at most', async () => {
  const many = await console.logIn('viewer', 'many');
  for (let number = 1; number <= 20; number += 1)
    expect((await save(many, `view ${number}`, '/refunds?')).status).toBe(303);
  expect((await save(many, 'one more', '/refunds?')).status).toBe(409);
  expect((await save(many, 'view 7', '/payments?')).status).toBe(303);
});
