import { describe, expect, it } from 'vitest';
import { createTokens } from '../../../../postgres/applications/tokens.ts';
import { refusalOf } from '../../../support/service/answers.ts';
import { createJourney } from '../../../support/service/journey.ts';
import { useOwnApi } from '../../../support/service/service.ts';
import { until } from '../../../support/until.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(useOwnApi());
const secondUrl = (await service.anotherApi()).url;

const somewhere = '/api/v1/payments/PAY_01J00000000000000000000000';

/** The responses of both API processes to this token. */
const responsesTo = async (token: string) => {
  const answers = [service.url, secondUrl].map((url) =>
    createJourney({ url }, token).request('GET', somewhere),
  );
  return (await Promise.all(answers)).map(refusalOf);
};

/** An accepted token finds that the payment does not exist. */
const accepted = [404, 'PAYMENT_NOT_FOUND'];
const invalid = [401, 'INVALID_TOKEN'];
const disabled = [403, 'APPLICATION_DISABLED'];
const unauthenticated = [401, 'UNAUTHENTICATED'];

describe('a bearer token', () => {
  it('is required in the Authorization header, and not accepted in a query or a body', async () => {
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
      expect(refusalOf(answer), path).toEqual(unauthenticated);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
      last = answer.headers.get('x-request-id') ?? 'none';
    }
    await until('the last request is logged', () =>
      service.api.lines.some((line) => line.includes(last)),
    );
    expect(service.api.lines.join('\n')).not.toContain(token);
  });

  it('is rejected when it is unknown, altered or malformed', async () => {
    const { token } = await service.anApplication();
    expect(await responsesTo(token)).toEqual([accepted, accepted]);
    for (const other of [
      `svc_test_${'a'.repeat(43)}`,
      token.replace('svc_test_', 'svc_live_'),
      `${token}x`,
      token.slice(0, -1),
      'PAY_01J00000000000000000000000',
      "' or 1=1 --",
    ])
      expect(await responsesTo(other.replaceAll(' ', '+')), other).toEqual([invalid, invalid]);
  });

  it('works beside other tokens until it is revoked, which all processes notice at once', async () => {
    const { application, token } = await service.anApplication();
    const newer = await createTokens(service.sql).issue({ application, mode: 'test', name: 'new' });
    expect(await responsesTo(token)).toEqual([accepted, accepted]);
    expect(await responsesTo(newer)).toEqual([accepted, accepted]);
    await service.sql`
      update tokens set revoked_at = now() where application = ${application} and name = 'test'`;
    expect(await responsesTo(token)).toEqual([invalid, invalid]);
    expect(await responsesTo(newer)).toEqual([accepted, accepted]);
  });

  it('is rejected by all processes once it expires, or its application is disabled', async () => {
    const { application, token } = await service.anApplication();
    const issued = { application, mode: 'test', name: 'brief' } as const;
    const brief = await createTokens(service.sql).issue(issued);
    expect(await responsesTo(token)).toEqual([accepted, accepted]);
    expect(await responsesTo(brief)).toEqual([accepted, accepted]);
    await service.sql`
      update tokens set expires_at = now() where application = ${application} and name = 'brief'`;
    expect(await responsesTo(brief)).toEqual([invalid, invalid]);
    expect(await responsesTo(token)).toEqual([accepted, accepted]);
    await service.sql`update applications set status = 'disabled' where slug = ${application}`;
    expect(await responsesTo(token)).toEqual([disabled, disabled]);
  });

  it('logs a token that fails with its prefix only', async () => {
    const wrong = `svc_live_${'Zz'.repeat(21)}Z`;
    await createJourney(service, wrong).request('GET', somewhere);
    const logged = (line: string) =>
      line.includes('Authentication failed') && line.includes('"svc_live_ZzZz"');
    await until('the failure is logged', () => service.api.lines.some(logged));
    expect(service.api.lines.join('\n')).not.toContain('svc_live_ZzZzZ');
  });
});
