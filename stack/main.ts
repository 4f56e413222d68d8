import '../node-version.mjs';
import { runStack } from './run.ts';

await runStack({
  api: 'api/main.ts',
  worker: 'worker/main.ts',
  shop: 'demo/shop.ts',
  console: 'console/main.ts',
  bundle: 'worker/bundle.ts',
});
