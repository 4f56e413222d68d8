import { expect, it } from 'vitest';
import { describePayment } from '../../../gateways/description.ts';

const id = 'PAY_1';

it.each([
  ['Two tickets', 'Two tickets'],
  ['  Two tickets\n', 'Two tickets'],
  ['Two\r\n\ttickets', 'Two tickets'],
  ['Two\u0000\u0007tickets\u009f', 'Two tickets'],
  ['Two\u2028tickets', 'Two tickets'],
  // A zero-width non-joiner belongs to Persian words.
  ['کتاب\u200cها', 'کتاب\u200cها'],
  ['🎟', '🎟'],
  ['-', '-'],
])('a provider gets the description %j as %j', (description, sent) => {
  expect(describePayment({ id, description })).toBe(sent);
});

it.each([null, '', ' ', '\t\n', '\u0000', '\u00a0\u3000', '\u200b\u200d', '\u0301'])(
  'a provider gets the id of the payment for %j, in which nothing is visible',
  (description) => {
    expect(describePayment({ id, description })).toBe(id);
  },
);
