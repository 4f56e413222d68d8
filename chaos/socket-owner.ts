import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Socket } from 'node:net';

/**
 * Finds which of these processes holds the other end of a connection within this machine. Undefined if
 * none does any more, and on systems without `/proc`.
 */
export const findSocketOwner = (
  { localPort, remotePort }: Pick<Socket, 'localPort' | 'remotePort'>,
  pids: readonly number[],
): number | undefined => {
  if (localPort === undefined || remotePort === undefined) return undefined;
  const inode = findInode({ localPort: remotePort, remotePort: localPort });
  return inode === undefined ? undefined : pids.find((pid) => holds(pid, `socket:[${inode}]`));
};

/** See https://docs.kernel.org/networking/proc_net_tcp.html. Ports are hexadecimal. */
const findInode = (ports: { localPort: number; remotePort: number }): string | undefined => {
  const [local, remote] = [toHex(ports.localPort), toHex(ports.remotePort)];
  for (const line of readLines('/proc/net/tcp')) {
    const fields = line.trim().split(/\s+/);
    if (fields[1]?.endsWith(local) && fields[2]?.endsWith(remote)) return fields[9];
  }
  return undefined;
};

const toHex = (port: number) => `:${port.toString(16).toUpperCase().padStart(4, '0')}`;

const readLines = (path: string): string[] => {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return []; // Not Linux.
  }
};

const holds = (pid: number, socket: string): boolean => {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((file) => readLink(`${folder}/${file}`) === socket);
  } catch {
    return false; // The process has just ended.
  }
};

const readLink = (path: string): string | undefined => {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // It was closed in the meantime.
  }
};
