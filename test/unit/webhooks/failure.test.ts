import { describe, expect, it } from 'vitest';
import { failureOf } from '../../../webhooks/failure.ts';

const dialled = (code: string, address: string) =>
  Object.assign(new Error(code), { code, address });

const withCode = (code: string) => Object.assign(new Error('10.0.0.1'), { code });

describe('failureOf', () => {
  it.each<[string, string[]]>([
    ['connect', ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'EACCES', 'EPERM']],
    ['timeout', ['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT']],
    ['reset', ['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET']],
    ['tls', ['ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_SSL_WRONG_VERSION_NUMBER', 'EPROTO']],
    ['tls', ['CERT_HAS_EXPIRED', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'SELF_SIGNED_CERT_IN_CHAIN']],
    ['protocol', ['HPE_INVALID_CONSTANT', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH']],
  ])('returns the class %s for %j, without an address', (errorClass, codes) => {
    for (const failure of codes.map((code) => failureOf(withCode(code)))) {
      expect(failure).toMatchObject({ errorClass });
      expect(failure.error).not.toContain('10.0.0.1');
    }
  });

  it('says that the receiver must send its intermediate certificates', () => {
    const { error } = failureOf(withCode('UNABLE_TO_VERIFY_LEAF_SIGNATURE'));
    expect(error).toContain('incomplete: the receiver must send its intermediate certificates');
  });

  // Otherwise a worker without descriptors would use up the six attempts.
  it.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED'])(
    'rethrows %s, which is our own fault',
    (code) => {
      const error = withCode(code);
      expect(() => failureOf(error)).toThrow(error);
    },
  );

  it('returns connect for an IPv6 receiver when this machine has no IPv6', () => {
    const error = dialled('EADDRNOTAVAIL', '2001:db8::1');
    expect(failureOf(error)).toMatchObject({ errorClass: 'connect' });
  });

  it('rethrows EADDRNOTAVAIL for IPv4: this machine has no free port', () => {
    const error = dialled('EADDRNOTAVAIL', '203.0.113.1');
    expect(() => failureOf(error)).toThrow(error);
  });

  it('finds the receiver’s fault among the errors of several addresses', () => {
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
