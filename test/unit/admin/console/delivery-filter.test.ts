import { describe, expect, it } from 'vitest';
import {
  readDeliveryFilter,
  readReplayFilter,
  writeDeliveryFilter,
} from '../../../../admin/console/delivery-filter.ts';
import { Query } from '../../../../admin/console/query.ts';
import {
  type DeliveryFilter,
  everyDelivery,
} from '../../../../postgres/webhooks/delivery-filter.ts';

const whole: DeliveryFilter & { test: boolean } = {
  application: 'shop',
  test: false,
  kind: 'payment.failed',
  delivery: 'delivered',
  errorClass: 'tls',
  from: new Date('2026-11-20T10:11:12.345Z'),
  to: new Date('2026-11-21T00:00:00.001Z'),
  eventIds: null,
};
const parts = Object.keys(everyDelivery) as (keyof DeliveryFilter)[];

describe('a filter in an address', () => {
  it.each([...parts.map((name) => ({ ...everyDelivery, test: true, [name]: whole[name] })), whole])(
    'is read as it was written: %j',
    (filter) => {
      const query = new Query(writeDeliveryFilter(filter));
      expect(
        readDeliveryFilter({ query, zone: 'Asia/Tehran', test: filter.test }, new Date()),
      ).toEqual(filter);
    },
  );
});

describe('what a replay takes', () => {
  const event = '32ae0959-d29a-5492-adbf-9815d554b12e';
  const read = (more: string) =>
    readReplayFilter(new Query(`${String(writeDeliveryFilter(whole))}&${more}`));

  it('is all that match, or those of them that are selected', () => {
    expect(read('scope=all')).toEqual(whole);
    expect(read(`event=${event}&scope=all`)).toEqual(whole);
    expect(read(`event=${event}&scope=selected`)).toEqual({ ...whole, eventIds: [event] });
  });

  it.each([
    ['scope=all&gateway=stripe', 'this filter: gateway'],
    ['scope=all&period=1+hour', 'this filter: period'],
    ['scope=all&application=Con-Shop', 'this filter: application'],
    ['scope=all&status=exhausted', 'this filter: status'],
    ['scope=all&scope=selected', 'what to replay'],
    ['scope=selected&scope=all', 'what to replay'],
    ['scope=every', 'what to replay'],
    ['', 'what to replay'],
    ['scope=selected', 'Select a delivery first'],
    ["scope=selected&event='", 'selection'],
    [`scope=selected&event=${event}&event=none`, 'selection'],
    [`scope=selected${`&event=${event}`.repeat(51)}`, 'selection'],
  ])('is refused with %j', (more, why) => {
    expect(() => read(more)).toThrow(why);
  });

  it.each([
    { ...whole, delivery: 'pending' as const },
    { ...whole, delivery: null },
    { ...whole, to: null },
    { ...whole, test: null },
  ])('is refused for %j', (filter) => {
    const query = writeDeliveryFilter(filter);
    query.set('scope', 'all');
    expect(() => readReplayFilter(new Query(query))).toThrow('what to replay');
  });
});
