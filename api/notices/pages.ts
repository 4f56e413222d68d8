import { html } from 'hono/html';
import { z } from 'zod';
import type { LinkedAddress, NoticeAddresses } from '../../postgres/notices/addresses.ts';
import { pageHeaders } from '../http/response-headers.ts';
import type { Handler, RouteSpec } from '../http/route.ts';
import { htmlPage } from '../payer/html-page.ts';

/*
 * The pages behind the links in mails to the people of an application. They are developers, so the pages are in English.
 * Scanners of mails open links, so a GET changes nothing.
 */

const token = z.string().meta({ description: 'From the mail.', example: 'k3pT0zB1…' });

const shown = { headers: pageHeaders, content: 'page' } as const;

const shared = { tag: 'Notice pages', params: z.object({ token }), errors: ['NOT_FOUND'] } as const;

export const showUnsubscriptionRoute = {
  ...shared,
  summary: 'Show the page that ends notices',
  description: 'Changes nothing: its button does.',
  responses: { 200: { description: 'The page.', ...shown } },
} as const satisfies RouteSpec;

export const unsubscribeRoute = {
  ...shared,
  summary: 'End notices',
  description:
    'The address of the mail gets no further one about this application. Mail programs post here by themselves (RFC 8058). The body is not read.',
  responses: { 200: { description: 'Done, also if it was done before.', ...shown } },
} as const satisfies RouteSpec;

export const showConfirmationRoute = {
  ...shared,
  summary: 'Show the page that agrees to notices',
  description: 'Changes nothing: its button does.',
  responses: { 200: { description: 'The page.', ...shown } },
} as const satisfies RouteSpec;

export const confirmNoticesRoute = {
  ...shared,
  summary: 'Agree to notices',
  description:
    'The address of the mail is told when the webhooks of the application fail. Possible for 7 days after an admin has added it. The body is not read.',
  responses: { 200: { description: 'Done, also if it was done before.', ...shown } },
} as const satisfies RouteSpec;

export interface Deps {
  noticeAddresses: Pick<NoticeAddresses, 'getByLink' | 'confirm' | 'unsubscribe'>;
}

/** As randomBytes(32) in base64url: anything else is no link of ours, and costs no query. */
const tokenPattern = /^[\w-]{43}$/;

type Html = ReturnType<typeof html>;

/** An error at the same address is in the language of the browser, so the answers vary by it. */
const page = <const Status extends number>(status: Status, title: string, content: Html) =>
  htmlPage({ status, language: 'en', direction: 'ltr', title, content, forms: `'self'` });

const gone = () =>
  page(
    404,
    'This link is not valid',
    html`<p>
      It is not complete, or an admin has removed the address, or the mail is old. The newest mail
      has a link that works.
    </p>`,
  );

const question = (title: string, text: string, button: string) =>
  page(
    200,
    title,
    html`<p>${text}</p>
      <form method="post"><button class="main">${button}</button></form>`,
  );

const answer = (title: string, text: string) => page(200, title, html`<p>${text}</p>`);

const ended = ({ application }: LinkedAddress) =>
  answer(
    'No further mails',
    `This address gets no further mail about the webhooks of ${application}. An admin can add it again.`,
  );

const agreed = ({ application }: LinkedAddress) =>
  answer(
    'You will be told',
    `This address gets a mail when the live webhooks of ${application} fail. Each mail has a link that ends them.`,
  );

const tooLate = () =>
  answer(
    'This link is over',
    'It worked for 7 days. An admin can remove the address and add it again.',
  );

const find = async ({ noticeAddresses }: Deps, { token: given = '' }: Record<string, string>) =>
  tokenPattern.test(given) ? noticeAddresses.getByLink(given) : undefined;

export const showUnsubscriptionHandler =
  (deps: Deps): Handler<'payer', typeof showUnsubscriptionRoute> =>
  async ({ params }) => {
    const found = await find(deps, params);
    if (!found) return gone();
    if (found.isUnsubscribed) return ended(found);
    return question(
      `Mails about ${found.application}`,
      `Shall this address get no further mail about the webhooks of ${found.application}?`,
      'No further mails',
    );
  };

export const unsubscribeHandler =
  (deps: Deps): Handler<'payer', typeof unsubscribeRoute> =>
  async ({ params }) => {
    const found = await find(deps, params);
    if (!found || !(await deps.noticeAddresses.unsubscribe(params['token'] ?? ''))) return gone();
    return ended(found);
  };

export const showConfirmationHandler =
  (deps: Deps): Handler<'payer', typeof showConfirmationRoute> =>
  async ({ params }) => {
    const found = await find(deps, params);
    if (!found) return gone();
    if (found.isUnsubscribed) return ended(found);
    if (found.isConfirmed) return agreed(found);
    if (found.isTooLate) return tooLate();
    return question(
      `Mails about ${found.application}`,
      `Shall this address be told when the live webhooks of ${found.application} fail? If you know nothing of it, close this page: no further mail comes.`,
      'Tell this address',
    );
  };

export const confirmNoticesHandler =
  (deps: Deps): Handler<'payer', typeof confirmNoticesRoute> =>
  async ({ params }) => {
    const found = await find(deps, params);
    if (!found) return gone();
    if (await deps.noticeAddresses.confirm(params['token'] ?? '')) return agreed(found);
    return found.isUnsubscribed ? ended(found) : tooLate();
  };
