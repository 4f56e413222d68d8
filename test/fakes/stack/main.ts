import { runAllAs } from './run-all.ts';

await runAllAs('test/fakes/stack/server.ts');
