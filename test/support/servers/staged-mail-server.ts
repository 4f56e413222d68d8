import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { listenOnLoopback } from './listen.ts';

/**
 * How far a mail is. `greeted`: nobody has named it. `named`: the server knows its recipient. `asked`: nothing of its content has
 * come. `taken`: the server has it, but has not said so.
 */
export type Stage = 'greeted' | 'named' | 'asked' | 'taken';

/** A mail server without TLS that waits at each stage of a mail as long as `hold` says. */
export const startStagedMailServer = async (
  hold: (stage: Stage, to: string) => Promise<unknown> | undefined,
) => {
  const mails: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    // A sender that is killed resets its connection.
    converse(socket, { hold, taken: (to) => mails.push(to) }).catch(() => {});
  });
  const port = await listenOnLoopback(server);
  return {
    /** The recipient of each mail that the server has. */
    mails,
    port,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};

const converse = async (
  socket: Socket,
  { hold, taken }: { hold: (stage: Stage, to: string) => unknown; taken: (to: string) => void },
): Promise<void> => {
  let to = '';
  let content: string | undefined;
  const say = (line: string) => socket.write(`${line}\r\n`);
  await hold('greeted', to);
  say('220 here');
  let received = '';
  for await (const chunk of socket.setEncoding('utf8').iterator({ destroyOnReturn: true })) {
    received += String(chunk);
    if (content === undefined) {
      for (let end: number; content === undefined && (end = received.indexOf('\r\n')) >= 0;) {
        const line = received.slice(0, end);
        received = received.slice(end + 2);
        if (/^QUIT/i.test(line)) return void socket.end('221 bye\r\n');
        if (/^RCPT/i.test(line)) {
          to = /<([^<>]*)>/.exec(line)?.[1] ?? '';
          await hold('named', to);
        }
        if (/^DATA/i.test(line)) {
          await hold('asked', to);
          content = '';
        }
        say(content === undefined ? '250 ok' : '354 go on');
      }
      if (content === undefined) continue;
    }
    content += received;
    received = '';
    if (!content.endsWith('\r\n.\r\n')) continue;
    content = undefined;
    taken(to);
    await hold('taken', to);
    say('250 kept');
  }
};
