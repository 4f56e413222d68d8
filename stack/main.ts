import { runStack } from './run.ts';

await runStack();
