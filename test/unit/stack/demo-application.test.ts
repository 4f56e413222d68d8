import { expect, it } from 'vitest';
import { reachDatabase } from '../../../stack/demo-application.ts';
import { freePort } from '../../../stack/ports.ts';
import { reachTemporal } from '../../../stack/temporal/server.ts';

it('says that the database of DATABASE_URL cannot be reached, without its password', async () => {
  const port = await freePort();
  const reaching = reachDatabase(`postgres://shop:hidden@127.0.0.1:${port}/shop`);
  await expect(reaching).rejects.toThrow(
    new RegExp(`^DATABASE_URL: cannot use the database shop at 127\\.0\\.0\\.1:${port} .*start`),
  );
  await expect(reaching).rejects.not.toThrow('hidden');
});

it('says that no server answers at TEMPORAL_ADDRESS', async () => {
  const address = `127.0.0.1:${await freePort()}`;
  await expect(reachTemporal(address, { address })).rejects.toThrow(
    new RegExp(`^TEMPORAL_ADDRESS: .*${address}: start it`),
  );
});
