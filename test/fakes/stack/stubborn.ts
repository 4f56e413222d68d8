import { runStack } from '../../../stack/run.ts';

/** A stack whose own programs never finish stopping. */
const endless = 'test/fakes/stack/endless.ts';
await runStack({
  api: endless,
  worker: endless,
  shop: endless,
  console: endless,
  bundle: 'test/fakes/stack/bundle.ts',
});
