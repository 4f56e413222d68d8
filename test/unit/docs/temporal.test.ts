import { expect, it } from 'vitest';
import { readProjectFile } from '../../support/checks/project-files.ts';

const page = (name: string) => readProjectFile(`docs/operating/${name}.md`);
const heading = '## The temporal command';

it.each(['temporal', 'restoring', 'retention'])(
  '%s.md has a temporal command, and a link to how it is run',
  (name) => {
    const text = page(name);
    expect(text).toMatch(/(^ *|`)temporal (workflow|operator) /m);
    expect(text).toContain(`(${name === 'temporal' ? '' : 'temporal.md'}#the-temporal-command)`);
    expect(page('temporal')).toContain(`\n${heading}\n`);
  },
);
