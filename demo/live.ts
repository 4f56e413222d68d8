import { PassThrough } from 'node:stream';
import type { Orders } from './orders.ts';

const maxStreams = 100;
const heartbeatMs = 15_000;

/** Server-Sent Events with the current version of the orders, at once and at every change. */
export const createLiveStreams = (orders: Pick<Orders, 'version' | 'onChange'>) => {
  const streams = new Set<PassThrough>();
  return {
    /** Undefined when too many pages listen already. */
    open: (): PassThrough | undefined => {
      if (streams.size >= maxStreams) return undefined;
      const stream = new PassThrough();
      const send = (version: string) => void stream.write(`data: ${version}\n\n`);
      const stopListening = orders.onChange(send);
      // Detects browsers whose connection broke silently.
      const heartbeat = setInterval(() => void stream.write(':\n\n'), heartbeatMs);
      streams.add(stream);
      stream.once('close', () => {
        stopListening();
        clearInterval(heartbeat);
        streams.delete(stream);
      });
      send(orders.version());
      return stream;
    },

    close: () => {
      for (const stream of streams) stream.end();
    },
  };
};

/**
 * Runs in the browser. When the orders change, it replaces the marked part of the page by the server's
 * new one and announces the change to screen readers. A hidden page does not listen.
 */
export const liveScript = `
const part = () => document.querySelector('[data-live]');
let source;
const refresh = async (version) => {
  if (version === part().dataset.live) return;
  const response = await fetch(location.href, { headers: { accept: 'text/html' } });
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const fresh = page.querySelector('[data-live]');
  if (!fresh) return;
  // A change of another order must not move the focus or clear a selection.
  if (fresh.innerHTML === part().innerHTML) {
    part().dataset.live = fresh.dataset.live;
    return;
  }
  const news = fresh.dataset.news;
  if (news !== part().dataset.news) document.querySelector('#news').textContent = news;
  const focused = document.activeElement?.getAttribute('href');
  part().replaceWith(document.adoptNode(fresh));
  if (focused) part().querySelector('[href="' + CSS.escape(focused) + '"]')?.focus();
  document.title = page.title;
};
const listen = () => {
  source?.close();
  source = undefined;
  if (document.hidden) return;
  source = new EventSource('/events');
  source.onmessage = (event) => refresh(event.data).catch(() => {});
};
document.addEventListener('visibilitychange', listen);
addEventListener('pagehide', () => source?.close());
addEventListener('pageshow', (event) => event.persisted && listen());
listen();
`;
