import { z } from 'zod';

/** What the bare processes are told, as their one argument. */
const Setup = z.object({
  databaseUrl: z.string(),
  temporal: z.object({ address: z.string(), namespace: z.string() }),
  bundlePath: z.string(),
  port: z.int(),
});
export type Setup = z.infer<typeof Setup>;

export const readSetup = (): Setup => Setup.parse(JSON.parse(process.argv[2] ?? ''));
