// In a worker: a port of its loopback address leads to a server of the test.
import { connect, createServer } from 'node:net';

const { searchParams } = new URL(import.meta.url);
const { hostname, port } = new URL(searchParams.get('to'));
createServer((from) => {
  const to = connect(Number(port), hostname);
  from.pipe(to).pipe(from);
  for (const socket of [from, to])
    socket.on('error', () => {
      from.destroy();
      to.destroy();
    });
})
  .on('error', () => {}) // A second process in the container, which sends nothing.
  .listen(Number(searchParams.get('port')), '127.0.0.1')
  .unref();
