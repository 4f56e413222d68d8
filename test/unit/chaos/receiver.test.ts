import { expect, it, onTestFinished } from 'vitest';
import { createRandom } from '../../../chaos/random.ts';
import { startReceiver } from '../../../chaos/receiver.ts';

it('a receiver that is down fails each event that is new to it, and no event that it has accepted', async () => {
  const receiver = await startReceiver({ failing: 0, random: createRandom('7') });
  onTestFinished(receiver.stop);
  const post = async (event: string, attempt = 1) => {
    const headers = { 'x-service-event-id': event, 'x-service-delivery-attempt': String(attempt) };
    return (await fetch(receiver.url, { method: 'POST', headers, body: '{}' })).status;
  };
  expect(await post('before')).toBe(204);
  receiver.failNew('refuse');
  expect([await post('during'), await post('before'), await post('during', 2)]).toEqual([
    500, 204, 204,
  ]);
  receiver.failNew(undefined);
  expect([await post('during'), await post('after')]).toEqual([500, 204]);
});
