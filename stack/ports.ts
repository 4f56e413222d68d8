import { randomInt } from 'node:crypto';
import getPort from 'get-port';
import { SetupError } from '../process.ts';

const host = '127.0.0.1';

/**
 * Below the ports that systems lend to outgoing connections (Linux from 32768, macOS from 49152), so
 * that a port which is free now is still free when its program starts.
 */
const candidates = () => Array.from({ length: 50 }, () => randomInt(20_000, 32_000));

export const freePort = (): Promise<number> => getPort({ host, port: candidates() });

/**
 * The ports to use, by the name of their variable; 0 becomes a free one.
 * @throws SetupError with the variables of all ports that cannot be used
 */
export const choosePorts = async <Name extends string>(
  wanted: Record<Name, number>,
): Promise<Record<Name, number>> => {
  const names = Object.keys(wanted) as Name[]; // Object.keys widens to string.
  const chosen = { ...wanted };
  const problems: string[] = [];
  for (const name of names.filter((each) => wanted[each] !== 0)) {
    const port = wanted[name];
    const twin = names.find((other) => wanted[other] === port);
    const isFree = twin === name && (await getPort({ host, port })) === port;
    const reason =
      twin === name ? 'is taken: stop the program that uses it, or' : `is ${twin}'s too:`;
    if (!isFree) problems.push(`Port ${port} ${reason} set ${name} to a free port (0 finds one).`);
  }
  if (problems.length > 0) throw new SetupError(problems.join('\n'));
  for (const name of names) chosen[name] ||= await freePort();
  return chosen;
};
