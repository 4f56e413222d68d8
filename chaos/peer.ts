import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Socket } from 'node:net';

/**
 * Which of these processes is at the other end of a connection within this machine, as Linux tells it.
 * Undefined where none is any more.
 */
export const peerOf = (
  { localPort, remotePort }: Pick<Socket, 'localPort' | 'remotePort'>,
  pids: readonly number[],
): number | undefined => {
  if (localPort === undefined || remotePort === undefined) return undefined;
  const inode = inodeOf({ localPort: remotePort, remotePort: localPort });
  return inode === undefined ? undefined : pids.find((pid) => holds(pid, `socket:[${inode}]`));
};

/** https://docs.kernel.org/networking/proc_net_tcp.html: addresses and ports are in hexadecimal. */
const inodeOf = (ports: { localPort: number; remotePort: number }): string | undefined => {
  const [local, remote] = [hex(ports.localPort), hex(ports.remotePort)];
  for (const line of linesOf('/proc/net/tcp')) {
    const fields = line.trim().split(/\s+/);
    if (fields[1]?.endsWith(local) && fields[2]?.endsWith(remote)) return fields[9];
  }
  return undefined;
};

const hex = (port: number) => `:${port.toString(16).toUpperCase().padStart(4, '0')}`;

const linesOf = (path: string): string[] => {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return []; // Another system: nobody is known.
  }
};

const holds = (pid: number, socket: string): boolean => {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((file) => linkOf(`${folder}/${file}`) === socket);
  } catch {
    return false; // It has just ended.
  }
};

const linkOf = (path: string): string | undefined => {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // It was closed meanwhile.
  }
};
