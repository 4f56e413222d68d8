import { runStack } from '../../../stack/run.ts';

const server = 'test/fakes/stack/server.ts';

await runStack({
  api: 'test/fakes/stack/throws.ts',
  worker: server,
  shop: server,
  bundle: 'test/fakes/stack/bundle.ts',
});
