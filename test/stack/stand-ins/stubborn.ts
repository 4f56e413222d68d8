import { runStack } from '../../../stack/run.ts';

const deaf = 'test/stack/stand-ins/deaf.ts';

await runStack({
  api: deaf,
  worker: deaf,
  shop: deaf,
  bundle: 'test/stack/stand-ins/bundle.ts',
});
