import { expect, it } from 'vitest';
import { words } from '../../../admin/cli/reconcile.ts';
import { readProjectFile } from '../../support/files.ts';

it('the page explains each difference in the words of the command', () => {
  const page = readProjectFile('docs/operating/restoring.md');
  const [table = ''] = /^\| Difference .*\n(\|.*\n)+/m.exec(page) ?? [];
  const explained = [...table.matchAll(/^\| `(.+?)` +\|/gm)].map(([, difference]) => difference);
  expect(explained).toEqual(Object.values(words));
});
