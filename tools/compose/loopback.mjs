// In a worker: port 9100 of its loopback address is the receiver of the test.
import { connect, createServer } from 'node:net';

const { hostname, port } = new URL(new URL(import.meta.url).searchParams.get('receiver'));
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
  .listen(9100, '127.0.0.1')
  .unref();
