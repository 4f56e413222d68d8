import { PassThrough } from 'node:stream';
import type { Orders } from './orders.ts';

const maxStreams = 100;
const heartbeatMs = 15_000;

/** Server-Sent Events that name the orders' present version, at once and at every change. */
export const createLiveStreams = (orders: Pick<Orders, 'version' | 'onChange'>) => {
  const streams = new Set<PassThrough>();
  return {
    /** Undefined when too many pages listen already; they still have their reload button. */
    open: (): PassThrough | undefined => {
      if (streams.size >= maxStreams) return undefined;
      const stream = new PassThrough();
      const tell = (version: string) => void stream.write(`data: ${version}\n\n`);
      const stopListening = orders.onChange(tell);
      // Finds browsers that went away without a word.
      const heartbeat = setInterval(() => void stream.write(':\n\n'), heartbeatMs);
      streams.add(stream);
      stream.once('close', () => {
        stopListening();
        clearInterval(heartbeat);
        streams.delete(stream);
      });
      tell(orders.version());
      return stream;
    },

    close: () => {
      for (const stream of streams) stream.end();
    },
  };
};

/**
 * Runs in the browser. When the orders change, takes the marked parts of the page anew from the
 * server, which alone knows how an order looks. Says aloud what changed, and rests while hidden.
 */
export const liveScript = `
const part = () => document.querySelector('[data-live]');
let source;
const refresh = async (version) => {
  if (version === part().dataset.live) return;
  const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const fresh = page.querySelector('[data-live]');
  if (!fresh) return;
  // Another order's change must not take a focus or a selection away.
  if (fresh.innerHTML === part().innerHTML) {
    part().dataset.live = fresh.dataset.live;
    return;
  }
  const said = fresh.dataset.say;
  if (said !== part().dataset.say) document.querySelector('#said').textContent = said;
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
