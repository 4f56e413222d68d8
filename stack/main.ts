import '../node-version.mjs';

// A signal that comes while all this is being loaded finds a listener.
const { runStack } = await import('./run.ts');

await runStack({
  api: 'api/main.ts',
  worker: 'worker/main.ts',
  shop: 'demo/shop.ts',
  console: 'admin/console/main.ts',
  bundle: 'worker/bundle.ts',
});
