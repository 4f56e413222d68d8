import { describe, expect, it } from 'vitest';
import { failureOf } from '../../activities/webhook-failure.ts';

const dialled = (code: string, address: string) =>
  Object.assign(new Error(code), { code, address });

describe('why an attempt failed', () => {
  it('FS-25: is the receiver that has only IPv6, where this machine has none: no try without end', () => {
    const error = dialled('EADDRNOTAVAIL', '2001:db8::1');
    expect(failureOf(error)).toMatchObject({ errorClass: 'connect' });
  });

  it('is this machine without ports: the try is repeated under its number', () => {
    const error = dialled('EADDRNOTAVAIL', '203.0.113.1');
    expect(() => failureOf(error)).toThrow(error);
  });

  it('is told by one of its addresses of which the receiver is to blame', () => {
    const noIpv6 = dialled('EADDRNOTAVAIL', '2001:db8::1');
    const noPort = dialled('EADDRNOTAVAIL', '203.0.113.1');
    const refused = dialled('ECONNREFUSED', '203.0.113.1');
    const timedOut = dialled('ETIMEDOUT', '203.0.113.1');
    expect(failureOf(new AggregateError([noPort, refused]))).toMatchObject({
      errorClass: 'connect',
      error: expect.stringContaining('ECONNREFUSED') as string,
    });
    expect(failureOf(new AggregateError([timedOut, noIpv6])).errorClass).toBe('timeout');
    const both = new AggregateError([noPort, noPort]);
    expect(() => failureOf(both)).toThrow(both);
  });
});
