import { join } from 'node:path';
import { expect, it } from 'vitest';
import { addPieces, type Piece, readPieces, savePiece } from '../../../chaos/pieces.ts';
import { formatLongReport } from '../../../chaos/report.ts';
import { aFolder } from '../../support/stack/support.ts';

const aPiece = (seed: string, values: Partial<Piece> = {}): Piece => ({
  seed,
  created: 100,
  kills: 3,
  violations: [],
  posts: 110,
  conversion: {
    down: { wanted: 10, opened: 9, elsewhere: 8 },
    up: { wanted: 80, opened: 80, elsewhere: 0 },
    inVain: 4,
  },
  statuses: { paid: 90, failed: 10 },
  responses: { 'create 201': 100 },
  recoveries: [{ role: 'api', kills: 3, ready: [100, 300], nextEvent: [50] }],
  memory: {},
  ...values,
});

it('adds the pieces of a run, which go on after an interruption', () => {
  const file = join(aFolder(), 'long', 'run.json');
  expect(readPieces(file)).toEqual([]);
  savePiece(file, aPiece('7-1'));
  savePiece(
    file,
    aPiece('7-2', {
      statuses: { paid: 99, expired: 1 },
      violations: ['seed 7-2, order-3: it has 2 events'],
      recoveries: [{ role: 'api', kills: 2, ready: [200], nextEvent: [] }],
    }),
  );
  const pieces = readPieces(file);
  expect(pieces.map(({ seed }) => seed)).toEqual(['7-1', '7-2']);
  const { created, kills, statuses, recoveries } = addPieces(pieces);
  expect({ created, kills }).toEqual({ created: 200, kills: 6 });
  expect(Object.fromEntries(statuses)).toEqual({ paid: 189, failed: 10, expired: 1 });
  expect(recoveries).toEqual([{ role: 'api', kills: 5, ready: [100, 200, 300], nextEvent: [50] }]);
  const report = formatLongReport(pieces);
  expect(report).toContain('VIOLATION seed 7-2, order-3: it has 2 events');
  expect(report).toContain('18 of 20 while their first gateway was down, 16 of them');
  expect(report).toMatch(/200 payments, 6 kills, 1 violations$/);
});
