import { runAllAs } from './run-all.ts';

await runAllAs('test/stack/stand-ins/deaf.ts');
