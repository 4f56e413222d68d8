import { runStack } from '../../../stack/run.ts';

/** A stack whose API throws at once; its program does not exist. */
const server = 'test/fakes/stack/server.ts';
await runStack({
  api: 'test/fakes/stack/missing.ts',
  worker: server,
  shop: server,
  console: server,
  bundle: 'test/fakes/stack/bundle.ts',
});
