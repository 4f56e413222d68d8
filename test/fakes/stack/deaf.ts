import { runProcess } from '../../../process.ts';

/** Stands in for a program of ours that never comes to an end. */
await runProcess(async () => {
  setInterval(() => {}, 1000);
  return () => new Promise(() => {});
});
