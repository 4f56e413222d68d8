import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Address } from '../servers/raw-requests.ts';

/** The addresses at which these processes accept TCP connections, as Linux says it. */
export const listeningIn = (pids: readonly number[]): Address[] => {
  const sockets = new Set(pids.flatMap(socketsOf));
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .flatMap((line) => {
        const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
        const [address = '', port = ''] = local.split(':');
        const host = addressOf(address);
        return state === '0A' && sockets.has(inode) ? [{ host, port: parseInt(port, 16) }] : [];
      }),
  );
};

const socketsOf = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
    } catch {
      return []; // It was closed meanwhile.
    }
  });

/** The bytes of an IPv4 address, backwards. A longer one is of IPv6: any of this machine. */
const addressOf = (hex: string): string =>
  hex.length > 8
    ? '127.0.0.1'
    : [...Buffer.from(hex, 'hex')].toReversed().join('.').replace('0.0.0.0', '127.0.0.1');
