import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import type { HandlerResult } from '../http/route.ts';
import type { Html } from './texts.ts';

const style = `
  :root { color-scheme: light dark; --ink: #1c2430; --paper: #f5f6f8; --card: #fff; --line: #d8dde5;
    --main: #1d4ed8; --soft: #5b6675 }
  @media screen and (prefers-color-scheme: dark) { :root { --ink: #e7ebf1; --paper: #12161c; --card: #1b212a;
    --line: #333c49; --main: #7aa2ff; --soft: #9aa6b5 } }
  * { box-sizing: border-box }
  body { margin: 0; min-height: 100svh; overflow-wrap: anywhere; display: grid; place-items: center; padding: 1.25rem;
    font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper) }
  main { width: 100%; max-width: 26rem; padding: 1.75rem; background: var(--card);
    border: 1px solid var(--line); border-radius: .9rem }
  h1 { margin: 0 0 .25rem; font-size: 1.25rem }
  p { margin: .5rem 0 } .soft { color: var(--soft); font-size: .9rem }
  .amount { font-size: clamp(1rem, 6.5vw, 2rem); font-weight: 650; margin: .75rem 0;
    overflow-wrap: normal }
  form { display: grid; gap: .6rem; margin-top: 1.25rem }
  button, .button { font: inherit; font-weight: 600; padding: .75rem 1rem; border-radius: .6rem; cursor: pointer;
    border: 1px solid var(--line); background: transparent; color: inherit; text-align: center; text-decoration: none }
  a.button { display: block; margin-top: 1.25rem }
  button.main { background: var(--main); border-color: var(--main); color: var(--card) }
  button:focus-visible, select:focus-visible, a:focus-visible { outline: 3px solid var(--main); outline-offset: 2px }
  select { font: inherit; padding: .6rem; border-radius: .6rem; border: 1px solid var(--line);
    background: var(--card); color: inherit; width: 100% }
  label { display: grid; gap: .25rem } hr { border: 0; border-top: 1px solid var(--line); width: 100% }
  dl { margin: .5rem 0 } dd { margin: 0 0 .35rem; color: var(--ink) }
  section + section, form + section { margin-top: 1.75rem } main > :first-child { margin-top: 0 }
  nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin-top: 1.75rem; font-size: .9rem }
  nav a { color: var(--soft) }
  .qr { margin: 1.75rem 0 0; text-align: center } .qr svg { width: 9rem; height: 9rem; background: #fff }
  @media print { form, nav { display: none } body { background: #fff } main { border: 0 } }
  .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }`;

export const cspHash = (text: string) =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
export const styleHash = cspHash(style);
// A whole element, because a hash covers every character between the tags, line breaks included.
export const styleElement = raw(`<style>${style}</style>`);

interface HtmlPage<Status extends number> {
  status: Status;
  language: string;
  direction: string | Html;
  title: string | Html;
  /** Stands before the title. */
  above?: Html | '';
  content: Html;
  /** The hash of the one script; without it the page has none. */
  script?: string;
  /** The targets of forms; undefined: any. */
  forms: string | undefined;
  headers?: Record<string, string> | undefined;
}

/** A page for a browser that has no login. Its policy allows one style, and nothing from other origins. */
export const htmlPage = async <const Status extends number>({
  status,
  language,
  direction,
  title,
  above = '',
  content,
  script,
  forms,
  headers,
}: HtmlPage<Status>): Promise<HandlerResult<Status>> => ({
  status,
  headers: {
    'content-language': language,
    vary: 'Accept-Language',
    'content-security-policy': [
      `default-src 'none'`,
      `style-src ${styleHash}`,
      ...(script === undefined ? [] : [`script-src ${script}`]),
      ...(forms === undefined ? [] : [`form-action ${forms}`]),
      `base-uri 'none'`,
      `frame-ancestors 'none'`,
    ].join('; '),
    ...headers,
  },
  body: String(
    await html`<!doctype html>
      <html lang="${language}" dir="${direction}">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="robots" content="noindex" />
          <title>${title}</title>
          ${styleElement}
        </head>
        <body>
          <main>
            ${above}
            <h1>${title}</h1>
            ${content}
          </main>
        </body>
      </html>`,
  ),
});
