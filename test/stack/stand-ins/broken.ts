import { runStack } from '../../../stack/run.ts';

const server = 'test/stack/stand-ins/server.ts';

await runStack({
  api: 'test/stack/stand-ins/throws.ts',
  worker: server,
  shop: server,
  bundle: 'test/stack/stand-ins/bundle.ts',
});
