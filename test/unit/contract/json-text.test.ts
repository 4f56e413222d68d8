import { expect, it } from 'vitest';
import { formatObject } from '../../../contract/json-text.ts';

it('keeps the order of the fields and inserts JSON text unchanged', () => {
  expect(
    formatObject({ b: 1, a: 'x"', c: null, d: false, e: { jsonText: '{ "2":1.0,"1":1e3 }' } }),
  ).toBe('{"b":1,"a":"x\\"","c":null,"d":false,"e":{ "2":1.0,"1":1e3 }}');
});
