import { createServer } from 'node:http';
import { runProcess } from '../../process.ts';

/** Takes POSTs and answers 204, in a process of its own: the sender is to have a core for itself. */
await runProcess(async () => {
  const port = Number(process.argv[2]);
  const server = createServer((req, res) => {
    req.resume();
    req.once('end', () => res.writeHead(204).end());
  });
  server.listen(port, '127.0.0.1');
  return async () => {
    server.close();
    server.closeAllConnections();
  };
});
