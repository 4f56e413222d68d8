import { createServer } from 'node:net';
import { SetupError } from '../process.ts';

const host = '127.0.0.1';

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
  const held = await Promise.all(names.map((name) => hold(wanted[name])));
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
