import { expect, it } from 'vitest';
import { checks, keptLineOf, readChecked } from '../../support/protocol/checks.ts';
import { keptResult } from '../../support/runner/closing-lines.ts';

it.for(checks)('Spin has checked the present model: $name', async (check, { annotate }) => {
  const line = keptLineOf(check, readChecked());
  expect(line, 'Spin checks what has changed by `npm run check-protocol`').toBeDefined();
  await annotate('protocol/checked.txt has what Spin found in this model', keptResult);
});

it('protocol/checked.txt has a line for each check of Spin, and no other', () => {
  const lines = readChecked();
  expect(lines).toEqual(checks.map((check) => keptLineOf(check, lines)));
});
