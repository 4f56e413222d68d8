import { execFileSync } from 'node:child_process';

/** Copies the data folder of a stopped Postgres, which is faster than making a new one. @returns the copy */
export const copyCluster = (from: string, to: string): string => {
  execFileSync('cp', ['-a', from, to]);
  return to;
};
