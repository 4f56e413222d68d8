import { describe, expect, it } from 'vitest';
import { labelOf, labels } from '../../../../admin/operations/labels.ts';
import { withLabels } from '../../../../tools/codes-page.ts';
import { readProjectFile } from '../../../support/checks/project-files.ts';

describe('the word for a code', () => {
  it('is plain language for one that a newer version has recorded', () => {
    expect([labelOf('failure', 'card_lost'), labelOf('audit', 'payment.moved')]).toEqual([
      'card lost',
      'payment moved',
    ]);
    expect(labelOf('status', 'toString')).toBe('toString');
  });

  it('tells two codes of one list apart, and is no code', () => {
    for (const [name, words] of Object.entries(labels)) {
      const all = Object.values(words);
      expect(new Set(all).size, name).toBe(all.length);
      expect(all.filter((word) => /[a-z]_[a-z]|^[a-z]+\.[a-z]+$/.test(word))).toEqual([]);
    }
  });

  it('stands on the page of the files, which node tools/codes-page.ts writes', () => {
    const page = readProjectFile('docs/codes.md');
    expect(withLabels(page)).toBe(page);
  });
});
