import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

/*
 * node serve-web.mjs PROGRAM PORT: serves a program that answers requests of the web, as its platform would: a route of
 * Next, or an application of Hono. Plain JavaScript, because Node 20 runs it.
 */

const [program = '', port = ''] = process.argv.slice(2);
const { POST, default: app } = await import(pathToFileURL(program).href);

createServer((request, response) => {
  const answer = async () => {
    const { method, url, headers } = request;
    const body = Readable.toWeb(request);
    const sent = new Request(`http://127.0.0.1${url}`, { method, headers, body, duplex: 'half' });
    return POST ? POST(sent) : app.fetch(sent);
  };
  void answer()
    .catch((error) => {
      console.error(error);
      return new Response(null, { status: 500 });
    })
    .then(({ status }) => response.writeHead(status).end());
}).listen(Number(port), '127.0.0.1');
