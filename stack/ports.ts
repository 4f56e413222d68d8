import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { SetupError } from '../process.ts';

const host = '127.0.0.1';

/**
 * Below those that the system lends to outgoing connections (Linux: from 32768): what is free when it
 * is chosen is then still free a moment later, when the program that is to have it starts.
 */
const lendable = { from: 20_000, to: 32_000 } as const;

/** Listens for a moment on the port, or for 0 on a free one. */
const holdAny = async (port: number): ReturnType<typeof hold> => {
  if (port !== 0) return hold(port);
  for (let tries = 0; tries < 100; tries += 1) {
    const held = await hold(randomInt(lendable.from, lendable.to));
    if (held) return held;
  }
  return hold(0);
};

/** Listens for a moment. @returns the port, or undefined when another program has it. */
const hold = (port: number) =>
  new Promise<{ port: number; free(): Promise<void> } | undefined>((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(undefined);
      else reject(error);
    });
    server.listen(port, host, () => {
      const address = server.address();
      const held = typeof address === 'object' && address ? address.port : port;
      resolve({ port: held, free: () => new Promise((done) => server.close(() => done())) });
    });
  });

/**
 * The ports to use, by the name of their variable; 0 becomes a free one.
 * @throws SetupError naming the variable of a port that is taken
 */
export const choosePorts = async <Name extends string>(
  wanted: Record<Name, number>,
): Promise<Record<Name, number>> => {
  const names = Object.keys(wanted) as Name[]; // Object.keys widens to string.
  // All are held at the same time, so that no two of them are the same.
  const held = await Promise.all(names.map((name) => holdAny(wanted[name])));
  const chosen = { ...wanted };
  const taken: Name[] = [];
  for (const [index, name] of names.entries()) {
    const port = held[index]?.port;
    if (port === undefined) taken.push(name);
    else chosen[name] = port;
  }
  await Promise.all(held.flatMap((one) => (one ? [one.free()] : [])));
  const [name] = taken;
  if (name === undefined) return chosen;
  throw new SetupError(
    `Port ${wanted[name]} cannot be used, another program has it: stop that program, or set ${name} to a free port (0 finds one).`,
  );
};

export const freePort = async (): Promise<number> => (await choosePorts({ PORT: 0 })).PORT;
