import { describe, expect, it } from 'vitest';
import { failureOf } from '../../../webhooks/failure.ts';

const dialled = (code: string, address: string) =>
  Object.assign(new Error(code), { code, address });

const withCode = (code: string) => Object.assign(new Error('10.0.0.1'), { code });

describe('why an attempt failed', () => {
  it.each<[string, string[]]>([
    ['connect', ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'EACCES', 'EPERM']],
    ['timeout', ['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT']],
    ['reset', ['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET']],
    ['tls', ['ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_SSL_WRONG_VERSION_NUMBER', 'EPROTO']],
    ['tls', ['CERT_HAS_EXPIRED', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'SELF_SIGNED_CERT_IN_CHAIN']],
    ['protocol', ['HPE_INVALID_CONSTANT', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH']],
  ])('FS-46: has the class %s for each of %j, and no address', (errorClass, codes) => {
    for (const failure of codes.map((code) => failureOf(withCode(code)))) {
      expect(failure).toMatchObject({ errorClass });
      expect(failure.error).not.toContain('10.0.0.1');
    }
  });

  it('FS-46: is an incomplete chain, and what the receiver has to do about it', () => {
    const { error } = failureOf(withCode('UNABLE_TO_VERIFY_LEAF_SIGNATURE'));
    expect(error).toContain('incomplete: the receiver must send its intermediate certificates');
  });

  // Else a sender without descriptors would use the six attempts up.
  it.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED'])(
    'FS-25: is never the receiver where we have %s: the try is repeated under its number',
    (code) => {
      const error = withCode(code);
      expect(() => failureOf(error)).toThrow(error);
    },
  );

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
