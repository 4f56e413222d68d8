import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  symlinkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readStackConfig } from '../../config.ts';
import { findGoProgram } from '../../stack/programs/go.ts';
import { thisMachine } from '../../stack/programs/machine.ts';
import { endsByItself } from '../../stack/system-processes.ts';
import { dockerCompose } from '../go-programs.ts';

const run = promisify(execFile);

/** The bridge between this machine and the engine's network namespace. */
const network = { host: '10.213.77.1', engine: '10.213.77.2', subnet: '10.213.77.0/24' };
/** Further addresses of this machine on that bridge, so that there is more than one client. */
const clientAddresses = Array.from({ length: 50 }, (_, index) => `10.213.77.${index + 11}`);
const namespace = 'payments-compose';
const link = { host: 'payments-h', engine: 'payments-e' };
const forwardingFile = '/proc/sys/net/ipv4/ip_forward';
const startTimeoutMs = 60_000;
const cgroup = `payments-compose-${process.pid}`;

const needed = ['dockerd', 'docker', 'debootstrap', 'ip', 'iptables', 'nsenter', 'python3', 'pip'];

/** Those of the programs that this machine lacks. */
export const missingPrograms = (programs: readonly string[]): string[] =>
  programs.filter((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0);

/** Why this machine can run no Docker Engine of its own; undefined where it can. */
export const whyNoEngine = (): string | undefined => {
  if (process.getuid?.() !== 0) return 'it needs root';
  if (!existsSync('/sys/fs/cgroup/cgroup.controllers') && !existsSync('/sys/fs/cgroup/memory'))
    return 'it needs cgroups';
  const missing = missingPrograms(needed);
  if (missing.length > 0) return `it needs ${missing.join(', ')} (Debian: docker.io, debootstrap)`;
  try {
    execFileSync('unshare', ['--net', 'iptables', '--table', 'nat', '--list'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'it needs network namespaces and iptables';
  }
};

/**
 * Starts a Docker Engine with data, socket and network of its own. It is in a network namespace, so that
 * its bridges and firewall rules go with it, and its ports meet no others of this machine.
 */
export const startEngine = async () => {
  if (existsSync(`/run/netns/${namespace}`)) await removeNetwork();
  const folder = mkdtempSync(join(tmpdir(), 'payments-engine-'));
  const closing: (() => unknown)[] = [];
  const stop = async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  };
  try {
    await openNetwork(folder, closing);
    const plugins = join(folder, 'cli-plugins');
    mkdirSync(plugins);
    const compose = await findGoProgram(dockerCompose, thisMachine());
    symlinkSync(compose, join(plugins, 'docker-compose'));
    const env = {
      ...readStackConfig().inherited,
      DOCKER_CONFIG: folder,
      DOCKER_HOST: `unix://${folder}/docker.sock`,
    };
    const docker = async (...args: string[]): Promise<string> =>
      (await run('docker', args, { env, maxBuffer: 1 << 26 })).stdout.trimEnd();
    await startDaemon(folder, closing);
    const until = Date.now() + startTimeoutMs;
    for (;;)
      try {
        await docker('version');
        break;
      } catch (error) {
        const log = readFileSync(join(folder, 'dockerd.log'), 'utf8').split('\n').slice(-20);
        if (Date.now() > until) throw new Error(log.join('\n'), { cause: error });
        await sleep(200);
      }
    return {
      docker,
      /** For other programs that call `docker`. */
      env,
      /** This machine reaches ports here that are published on all addresses. */
      address: network.engine,
      /** Containers reach this machine here. */
      hostAddress: network.host,
      clientAddresses,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};
export type Engine = Awaited<ReturnType<typeof startEngine>>;

const rules = [
  ['nat', 'POSTROUTING', '--source', network.subnet, '!', '--out-interface', link.host].concat([
    '--jump',
    'MASQUERADE',
  ]),
  ['filter', 'FORWARD', '--in-interface', link.host, '--jump', 'ACCEPT'],
  ['filter', 'FORWARD', '--out-interface', link.host, '--jump', 'ACCEPT'],
];

/** The commands that remove the network. A part of it may be gone. */
const removal = [
  `ip netns del ${namespace}`,
  `ip link del ${link.host}`,
  ...rules.map(([table, ...rule]) => `iptables --wait --table ${table} --delete ${rule.join(' ')}`),
];

/** Removes the network that a killed run has left. Its engine ends soon. @throws Error when it does not */
const removeNetwork = async () => {
  const until = Date.now() + startTimeoutMs;
  for (;;) {
    const { stdout } = await run('ip', ['netns', 'pids', namespace]);
    const pids = stdout.trim().split('\n').filter(Boolean);
    if (pids.length === 0) break;
    if (Date.now() > until)
      throw new Error(`An engine of another run is here: processes ${pids.join()}`);
    await sleep(200);
  }
  await run('sh', ['-c', removal.join('\n')]).catch(() => {});
};

const openNetwork = async (folder: string, closing: (() => unknown)[]) => {
  const ip = (...args: string[]) => run('ip', args);
  const iptables = (...args: string[]) => run('iptables', ['--wait', ...args]);
  closing.push(guardEngine(folder));
  await ip('netns', 'add', namespace);
  await ip('link', 'add', link.host, 'type', 'veth', 'peer', link.engine, 'netns', namespace);
  for (const address of [network.host, ...clientAddresses])
    await ip('addr', 'add', `${address}/24`, 'dev', link.host);
  await ip('link', 'set', link.host, 'up');
  const within = (...args: string[]) => ip('-n', namespace, ...args);
  await within('addr', 'add', `${network.engine}/24`, 'dev', link.engine);
  await within('link', 'set', 'lo', 'up');
  await within('link', 'set', link.engine, 'up');
  await within('route', 'add', 'default', 'via', network.host);

  // Builds install packages from the registries.
  writeFileSync(forwardingFile, '1');
  for (const [table = '', ...rule] of rules) await iptables('--table', table, '--insert', ...rule);
};

/**
 * Starts a shell that ends the engine and its containers, and removes its network, once this process has gone, also when
 * that is killed. A container is no child of the engine: it outlives an engine that is killed.
 * @returns removes it now
 */
const guardEngine = (folder: string) => {
  const script = [
    "trap '' HUP INT TERM",
    'cat',
    `for look in $(seq 150); do [ -n "$(ip netns pids ${namespace})" ] || break; sleep 0.2; done`,
    `for pid in $(ip netns pids ${namespace}) $(find /sys/fs/cgroup -path '*/${cgroup}/*' -name cgroup.procs -exec cat {} + | sort -u)`,
    'do kill -KILL "$pid"; done',
    'sleep 1',
    `while read -r _ folder _; do case $folder in "$1"/*) umount -l "$folder";; esac; done < /proc/mounts`,
    'rm -rf "$1"',
    ...removal,
    `echo ${readFileSync(forwardingFile, 'utf8').trim()} > ${forwardingFile}`,
    // A group that was never used goes at once; one of the engine's own when it is empty.
    `find /sys/fs/cgroup -depth -type d -path '*/${cgroup}*' -exec rmdir {} ';'`,
  ];
  const guard = spawn('sh', ['-c', script.join('\n'), endsByItself, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const exited = new Promise((resolve) => guard.once('exit', resolve));
  return async () => {
    guard.stdin?.end();
    await exited;
  };
};

const startDaemon = async (folder: string, closing: (() => unknown)[]) => {
  const log = openSync(join(folder, 'dockerd.log'), 'w');
  const daemon = spawn(
    'nsenter',
    [
      // It ends with this process, also when that is killed.
      ...[`--net=/run/netns/${namespace}`, 'setpriv', '--pdeathsig', 'TERM'],
      ...['dockerd', '--storage-driver', 'overlay2'],
      ...['--host', `unix://${folder}/docker.sock`, '--pidfile', `${folder}/docker.pid`],
      ...['--data-root', `${folder}/data`, '--exec-root', `${folder}/exec`],
      ...['--cgroup-parent', cgroup],
    ],
    { stdio: ['ignore', log, log], env: readStackConfig().inherited },
  );
  closeSync(log);
  const exited = new Promise((resolve) => daemon.once('exit', resolve));
  daemon.once('error', () => {});
  closing.push(async () => {
    // It stops its containers first, and unmounts what they had.
    daemon.kill('SIGTERM');
    await exited;
  });
};
