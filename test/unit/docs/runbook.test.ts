import { expect, it } from 'vitest';
import { accountDifferences } from '../../../contract/account-difference.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';

it('the runbook has a section for each kind of difference, in the order of the code', () => {
  const [, part = ''] = readProjectFile('docs/operating/runbook.md').split(
    "\n## Differences from a gateway's book\n",
  );
  const sections = [...part.matchAll(/^### (\w)(.+)\n\n`(\w+)`:/gm)].map(
    ([, first = '', rest = '', kind]) => [kind, first.toLowerCase() + rest],
  );
  expect(sections).toEqual(Object.entries(accountDifferences));
});
