import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTokens } from '../../../../postgres/tokens.ts';
import { createJourney } from '../../../support/journey.ts';
import type { Service } from '../../../support/service.ts';
import { startService } from '../../../support/service.ts';
import { until } from '../../../support/until.ts';

let service: Service;
let secondUrl: string;
beforeAll(async () => {
  service = await startService();
  secondUrl = (await service.anotherApi()).url;
});
afterAll(() => service?.stop());

const somewhere = '/api/v1/payments/PAY_01J00000000000000000000000';

/** What both API processes answer to this token. */
const answersTo = async (token: string) => {
  const answers = [service.url, secondUrl].map((url) =>
    createJourney({ url }, token).request('GET', somewhere),
  );
  return (await Promise.all(answers)).map(({ status, json }) => [status, codeOf(json)]);
};
const codeOf = (json: Record<string, unknown>) => (json['error'] as { code: string }).code;

const known = [404, 'PAYMENT_NOT_FOUND'];
const invalid = [401, 'INVALID_TOKEN'];
const unauthenticated = [401, 'UNAUTHENTICATED'];

describe('a bearer token', () => {
  it('is asked for where it is missing, also where it comes in a query or a body', async () => {
    const { token } = await service.anApplication();
    const { call } = createJourney(service, token);
    const json = { 'content-type': 'application/json' };
    let last = '';
    for (const [method, path, init] of [
      ['GET', somewhere, {}],
      ['GET', `${somewhere}?access_token=${token}&token=${token}`, {}],
      ['POST', '/api/v1/payments', { headers: json, body: JSON.stringify({ token }) }],
      ['GET', somewhere, { headers: { authorization: `Basic ${token}` } }],
      ['GET', somewhere, { headers: { authorization: token } }],
      ['GET', somewhere, { headers: { authorization: 'Bearer ' } }],
    ] as const) {
      const answer = await call(method, path, init);
      expect([answer.status, codeOf(answer.json)], path).toEqual(unauthenticated);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
      last = answer.headers.get('x-request-id') ?? 'none';
    }
    await until('all is logged', () => service.api.lines.some((line) => line.includes(last)));
    expect(service.api.lines.join('\n')).not.toContain(token);
  });

  it('is refused when it is unknown, altered or no token at all', async () => {
    const { token } = await service.anApplication();
    expect(await answersTo(token)).toEqual([known, known]);
    for (const other of [
      `svc_test_${'a'.repeat(43)}`,
      token.replace('svc_test_', 'svc_live_'),
      `${token}x`,
      token.slice(0, -1),
      'PAY_01J00000000000000000000000',
      "' or 1=1 --",
    ])
      expect(await answersTo(other.replaceAll(' ', '+')), other).toEqual([invalid, invalid]);
  });

  it('is one of several that work side by side, until it is revoked: at once, everywhere', async () => {
    const { application, token } = await service.anApplication();
    const newer = await createTokens(service.sql).issue({ application, mode: 'test', name: 'new' });
    expect(await answersTo(token)).toEqual([known, known]);
    expect(await answersTo(newer)).toEqual([known, known]);
    await service.sql`
      update tokens set revoked_at = now() where application = ${application} and name = 'test'`;
    expect(await answersTo(token)).toEqual([invalid, invalid]);
    expect(await answersTo(newer)).toEqual([known, known]);
  });

  it('ends with its expiry on the very next request', async () => {
    const { application, token } = await service.anApplication();
    const expire = (by: string) => service.sql`
      update tokens set expires_at = now() + ${by}::interval where application = ${application}`;
    await expire('1 hour');
    expect(await answersTo(token)).toEqual([known, known]);
    await expire('-1 second');
    expect(await answersTo(token)).toEqual([invalid, invalid]);
  });

  it('of a disabled application is refused on the very next request, until it is enabled', async () => {
    const { application, token } = await service.anApplication();
    const set = (status: string) =>
      service.sql`update applications set status = ${status} where slug = ${application}`;
    expect(await answersTo(token)).toEqual([known, known]);
    await set('disabled');
    const disabled = [403, 'APPLICATION_DISABLED'];
    expect(await answersTo(token)).toEqual([disabled, disabled]);
    await set('active');
    expect(await answersTo(token)).toEqual([known, known]);
  });

  it('is stored as its hash alone, and its last use to the minute', async () => {
    const { application, token } = await service.anApplication();
    await answersTo(token);
    const lastUse = async () => {
      const [row] = await service.sql<{ last_used_at: Date; whole: string }[]>`
        select last_used_at, t::text as whole from tokens t where application = ${application}`;
      expect(row?.whole).not.toContain(token.slice(13));
      return row?.last_used_at;
    };
    const first = await lastUse();
    expect(first).toBeInstanceOf(Date);
    await answersTo(token);
    expect(await lastUse()).toEqual(first);
  });

  it('that fails is logged with its prefix alone', async () => {
    const wrong = `svc_live_${'Zz'.repeat(21)}Z`;
    await createJourney(service, wrong).request('GET', somewhere);
    const logged = (line: string) =>
      line.includes('Authentication failed') && line.includes('"svc_live_ZzZz"');
    await until('the failure is logged', () => service.api.lines.some(logged));
    expect(service.api.lines.join('\n')).not.toContain('svc_live_ZzZzZ');
  });
});
