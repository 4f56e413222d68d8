import { expect, it } from 'vitest';
import { withModel } from '../../../tools/protocol-page.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';

it('docs/protocol.md has the diagrams and rules of the model; `node tools/protocol-page.ts` writes them', () => {
  const page = readProjectFile('docs/protocol.md');
  expect(withModel(page)).toBe(page);
});
