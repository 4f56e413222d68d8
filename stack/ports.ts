import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { SetupError } from '../process.ts';

const host = '127.0.0.1';

/**
 * Below those that the system lends to outgoing connections (Linux: from 32768): what is free when it
 * is chosen is then still free a moment later, when the program that is to have it starts.
 */
const lendable = { from: 20_000, to: 32_000 } as const;

interface Held {
  port: number;
  free(): Promise<void>;
}

/** Listens for a moment on the port, or for 0 on a free one. @returns why not, where that cannot be */
const holdAny = async (port: number): Promise<Held | string> => {
  if (port !== 0) return hold(port);
  for (let tries = 0; tries < 100; tries += 1) {
    const held = await hold(randomInt(lendable.from, lendable.to));
    if (typeof held !== 'string') return held;
  }
  return hold(0);
};

const reasons: Record<string, string> = {
  EADDRINUSE: 'is taken by another program: stop that program, or',
  EACCES: 'is not for this user to use:',
};

const hold = (port: number): Promise<Held | string> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = reasons[error.code ?? ''];
      if (reason) resolve(reason);
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
 * @throws SetupError naming the variables of all that cannot be used
 */
export const choosePorts = async <Name extends string>(
  wanted: Record<Name, number>,
): Promise<Record<Name, number>> => {
  const names = Object.keys(wanted) as Name[]; // Object.keys widens to string.
  const chosen = { ...wanted };
  const problems: string[] = [];
  const held: Held[] = [];
  // Held until all are chosen, so that no two of them are the same.
  for (const name of names) {
    const port = wanted[name];
    const twin = names.find((other) => port !== 0 && wanted[other] === port);
    const one = twin === undefined || twin === name ? await holdAny(port) : `is ${twin}'s too:`;
    if (typeof one === 'string')
      problems.push(`Port ${port} ${one} set ${name} to a free port (0 finds one).`);
    else {
      held.push(one);
      chosen[name] = one.port;
    }
  }
  await Promise.all(held.map((one) => one.free()));
  if (problems.length > 0) throw new SetupError(problems.join('\n'));
  return chosen;
};

export const freePort = async (): Promise<number> => (await choosePorts({ PORT: 0 })).PORT;
