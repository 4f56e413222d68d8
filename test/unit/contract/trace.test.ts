import { expect, it } from 'vitest';
import { parseTraceparent, traceIdOf } from '../../../contract/trace.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const valid = `00-${traceId}-b7ad6b7169203331-01`;

it('sends a valid traceparent on, one of a later version as version 00', () => {
  for (const header of [valid, valid.replace(/^00/, 'cc'), `${valid.replace(/^00/, 'cc')}-more`])
    expect(parseTraceparent(header), header).toBe(valid);
  expect(traceIdOf(valid)).toBe(traceId);
});

it.each([
  ['00', '00'],
  ['01', '01'],
  ['02', '02'],
  ['03', '03'],
  ['fe', '02'],
  ['ff', '03'],
  ['f8', '00'],
])('sends on the flags %s as %s: unknown ones are zero', (flags, sent) => {
  expect(parseTraceparent(valid.replace(/01$/, flags))).toBe(valid.replace(/01$/, sent));
});

it.each([
  undefined,
  '',
  traceId,
  `${valid}-more`,
  `${valid}0`,
  `${valid.replace(/^00/, 'cc')}0`,
  valid.replace(/^00/, 'ff'),
  valid.replace(/^00/, '0'),
  valid.toUpperCase(),
  valid.replace(traceId, '0'.repeat(32)),
  valid.replace('b7ad6b7169203331', '0'.repeat(16)),
  valid.replace('0a', '0g'),
  ` ${valid}`,
  // Two headers of the name, as Node joins them.
  `${valid}, ${valid}`,
  `${valid}\n`,
  `${valid.replace(/^00/, 'cc')}-\n`,
])('ignores an invalid traceparent: %j', (header) => {
  expect(parseTraceparent(header)).toBeUndefined();
});
