import { expect, it } from 'vitest';
import { addToQuery } from '../../../../api/payer/callback.ts';

const added = { payment_id: 'PAY_1', order_id: 'a b', status: 'paid' };
const ours = 'payment_id=PAY_1&order_id=a+b&status=paid';

it.each([
  ['https://shop.example', `https://shop.example?${ours}`],
  ['https://Shop.Example:443/a/../b', `https://Shop.Example:443/a/../b?${ours}`],
  ['https://shop.example/?', `https://shop.example/?${ours}`],
  ['https://shop.example/r/', `https://shop.example/r/?${ours}`],
  ['https://shop.example/r?x', `https://shop.example/r?x&${ours}`],
  ['https://shop.example/r?x=a%20b+c&y=~\'"', `https://shop.example/r?x=a%20b+c&y=~'"&${ours}`],
  ['https://shop.example/r?x=1&', `https://shop.example/r?x=1&${ours}`],
  ['https://shop.example/r?a=%7e&a=%2F&&b', `https://shop.example/r?a=%7e&a=%2F&&b&${ours}`],
  ['https://shop.example/#/done?x=1', `https://shop.example/?${ours}#/done?x=1`],
  ['https://shop.example/r?next=/a?b=c#d', `https://shop.example/r?next=/a?b=c&${ours}#d`],
  [
    'https://shop.example/r?status=paid&x=1&%73tatus=x&order_id',
    `https://shop.example/r?x=1&${ours}`,
  ],
  ['https://möbel.example/ü?q=ß#é', `https://xn--mbel-5qa.example/%C3%BC?q=%C3%9F&${ours}#%C3%A9`],
])('keeps every byte of %s', (registered, expected) => {
  expect(addToQuery(registered, added)).toBe(expected);
});
