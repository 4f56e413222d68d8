import { runProcess } from '../../../process.ts';

/** A program that never finishes stopping. */
await runProcess(async () => {
  setInterval(() => {}, 1000);
  return () => new Promise(() => {});
});
