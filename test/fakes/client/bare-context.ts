import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import vm from 'node:vm';

/*
 * node --experimental-vm-modules bare-context.ts FOLDER: loads the built client where nothing is global but
 * the web's own APIs, as in a worker at the edge, and uses it.
 */

const [folder = ''] = process.argv.slice(2);
const context = vm.createContext({
  fetch,
  URL,
  URLSearchParams,
  crypto,
  TextEncoder,
  TextDecoder,
  AbortController,
  setTimeout,
  clearTimeout,
});

interface Module {
  namespace: Record<string, unknown>;
  link: (linker: (specifier: string) => Module) => Promise<void>;
  evaluate: () => Promise<void>;
}
// Types for modules of vm come with the flag only.
const { SourceTextModule } = vm as unknown as {
  SourceTextModule: new (code: string, options: { context: vm.Context }) => Module;
};
const modules = new Map<string, Module>();
const load = (name: string): Module => {
  const known = modules.get(name);
  if (known) return known;
  if (!name.startsWith('./')) throw new Error(`${name} is no file of the package`);
  const loaded = new SourceTextModule(readFileSync(join(folder, name), 'utf8'), { context });
  modules.set(name, loaded);
  return loaded;
};

const program = new SourceTextModule(
  `import { Payments, webhooks } from './index.js';
  const client = new Payments({ token: 'svc_test_abc', baseUrl: 'http://127.0.0.1:9', maxRetries: 0 });
  const error = await client.me().catch(({ name }) => name);
  const body = '{"event":"payment.paid"}', secret = 'whsec_abc';
  const { event } = await webhooks.verify({ body, secret, signature: await webhooks.sign({ body, secret }) });
  export const result = { verified: event, error };`,
  { context },
);
await program.link(load);
await program.evaluate();
console.log(JSON.stringify(program.namespace['result']));
