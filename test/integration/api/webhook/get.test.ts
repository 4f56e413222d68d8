import { expect, it } from 'vitest';
import { createTokens } from '../../../../postgres/tokens.ts';
import { createJourney } from '../../../support/service/journey.ts';
import { useService } from '../../../support/service/service.ts';
import { forFile } from '../../../support/for-file.ts';

const service = await forFile(useService());

const webhookOf = async (token: string) => {
  const { status, json } = await createJourney(service, token).request('GET', '/api/v1/webhook');
  expect(status).toBe(200);
  return json;
};
const well = {
  state: 'ok',
  since: null,
  waiting: 0,
  exhausted: 0,
  last_error: null,
  last_accepted_at: null,
  next_attempt_at: null,
};

it('says how the receiver takes the events of the mode of the token', async () => {
  const { application, token } = await service.anApplication();
  const live = await createTokens(service.sql).issue({ application, mode: 'live', name: 'live' });
  expect(await webhookOf(token)).toEqual(well);
  await service.sql`
    insert into receivers (application, test, state, since) values (${application}, true, 'failing', '2026-11-20T10:00:00Z')`;
  expect(await webhookOf(token)).toEqual({
    ...well,
    state: 'failing',
    since: '2026-11-20T10:00:00.000+00:00',
  });
  expect(await webhookOf(live)).toEqual(well);
});

it('says that there is no webhook URL', async () => {
  const { token } = await service.anApplication({ webhookUrl: null });
  expect(await webhookOf(token)).toEqual({ ...well, state: 'none' });
});

it('counts what the receiver accepts, and says when', async () => {
  const { token, journey } = await service.anApplication();
  await journey.finish('pay');
  await expect
    .poll(() => webhookOf(token), { timeout: 60_000 })
    .toMatchObject({ state: 'ok', waiting: 0, last_accepted_at: expect.any(String) as unknown });
});
