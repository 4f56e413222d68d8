import { runStack } from '../../../stack/run.ts';

/** A stack whose own programs are all the fake server. */
const server = 'test/fakes/stack/server.ts';
await runStack({
  api: server,
  worker: server,
  shop: server,
  console: server,
  bundle: 'test/fakes/stack/bundle.ts',
});
