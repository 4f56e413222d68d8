import { expect, it } from 'vitest';
import { parseTraceId } from '../../../contract/trace.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const valid = `00-${traceId}-b7ad6b7169203331-01`;

it('parses the trace id of a valid traceparent, also of later versions', () => {
  for (const header of [valid, valid.replace(/^00/, 'cc'), `${valid.replace(/^00/, 'cc')}-more`])
    expect(parseTraceId(header), header).toBe(traceId);
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
])('ignores an invalid traceparent: %j', (header) => {
  expect(parseTraceId(header)).toBeUndefined();
});
