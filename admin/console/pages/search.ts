import { html } from 'hono/html';
import {
  disputeIdPattern,
  eventIdPattern,
  linkIdPattern,
  paymentIdPattern,
  refundIdPattern,
  replayIdPattern,
  requestIdPattern,
} from '../../../contract/ids.ts';
import { formatMoney } from '../../../contract/money.ts';
import { newestSearched, type FoundRefund } from '../../../postgres/console/search.ts';
import { codedState, escapeControls, link, notice, shortId, type Html } from '../html.ts';
import { isVisible } from '../owner.ts';
import { modeName } from '../mode.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page, redirect } from '../request.ts';
import { readSearch, type SearchMeaning } from '../search-text.ts';
import { orderLink } from '../thing-page.ts';
import { paymentTable } from './payments.ts';
import { type Found, foundMax, gather, hrefsOf, pagesOf } from './search-lookups.ts';

const textMax = 500;

/** Ids that stand somewhere in a pasted text, in any case. */
const paymentIn = /PAY_[0-9A-HJKMNP-TV-Z]{26}/i;
const refundIn = /REFUND_[0-9A-HJKMNP-TV-Z]{26}/i;
const disputeIn = /DISPUTE_[0-9A-HJKMNP-TV-Z]{26}/i;

const linkIn = /LNK_[0-9A-HJKMNP-TV-Z]{26}/i;

const secret = /svc_(?:live|test)_[\w-]*|whsec_[\w+/=-]*/;
const prefixLength = 13;

/** The page that a search has, with the text still in its box. */
const answer = (
  { title, content, status }: { title: string; content: Html; status: number },
  searched: string | undefined,
): ConsoleResponse => ({
  ...page(title, content, status),
  ...(searched !== undefined && { searched }),
});

const unsearched =
  'Nothing finds a payer by e-mail address, phone or name: the service keeps none of them. Ask for the order, the amount or the end of the card.';

const noText = page(
  'Nothing was searched',
  html`<p>The search takes one text of 1 to ${textMax} characters.</p>`,
  400,
);

const problemPart = ({ moneyProblem }: SearchMeaning): Html =>
  moneyProblem === null ? html`` : html`<p>${moneyProblem}</p>`;

const cardNotice = notice(
  'bad',
  'You pasted a card number. It went into no address and no log of the console; the search has used its last four digits alone.',
);

const refundTable = ({ cells }: PersonRequest, refunds: readonly FoundRefund[]): Html =>
  cells.table({
    caption: 'Refunds',
    isList: true,
    rows: refunds.map((refund) => ({
      Refund: shortId(`/refunds/${refund.id}`, refund.id),
      Amount: html`<span class="amount">${formatMoney(refund)}</span>`,
      Status: codedState('refundStatus', refund.status),
      Order: orderLink(refund),
      Application: link(`/applications/${refund.application}`, refund.application),
      Created: refund.createdAt,
    })),
    ifEmpty: '',
  });

const foundPart = (request: PersonRequest, each: Found): Html => {
  const { by } = each;
  const payments = (each.payments ?? []).slice(0, foundMax);
  const refunds = (each.refunds ?? []).slice(0, foundMax);
  const links = (each.links ?? []).slice(0, foundMax);
  const count = hrefsOf(each).length;
  return html`<h2>By ${by}: ${count > foundMax ? `more than ${foundMax}` : count}</h2>
    ${payments.length > 0 ? paymentTable(request, payments, '') : ''}
    ${refunds.length > 0 ? refundTable(request, refunds) : ''}
    ${links.length > 0 ? html`<ul>${links.map(({ href, label, kind }) => html`<li>${kind} ${link(href, label)}</li>`)}</ul>` : ''}
    ${count > foundMax ? html`<p class="soft">The search shows ${foundMax} of them.</p>` : ''}`;
};

/** The page with the things, or with the lookups that found none. */
const resultPage = (
  { meaning, tried }: Awaited<ReturnType<typeof gather>>,
  typed: string,
  request: PersonRequest,
): ConsoleResponse => {
  const found = tried.filter((each) => hrefsOf(each).length > 0);
  const slow = tried.filter(({ isTooLong }) => isTooLong).map(({ by }) => by);
  const searched = meaning.isCardNumber ? undefined : typed;
  const notices = html`${meaning.isCardNumber ? cardNotice : ''}${
    slow.length > 0 ? notice('bad', `The database did not finish in time: ${slow.join('; ')}.`) : ''
  }`;
  if (found.length > 0)
    return answer(
      {
        title: 'Found',
        content: html`${notices} ${found.map((each) => foundPart(request, each))} ${problemPart(meaning)}`,
        status: 200,
      },
      searched,
    );
  const kinds = [...new Set(tried.map(({ by }) => by))];
  return answer(
    {
      title: 'Nothing found',
      content: html`${notices}
        ${meaning.isCardNumber ? '' : html`<p>Nothing was found for “<bdi>${escapeControls(typed)}</bdi>”.</p>`}
        ${problemPart(meaning)}
        <p>${unsearched}</p>
        <p>The search has tried:</p>
        <ul>${kinds.map((by) => html`<li>${by}</li>`)}</ul>
        <p>It has looked at ${modeName(request.test)} things alone, but for a whole id. The switch in the head chooses the other mode.</p>
        <p class="soft">The end of an id is looked for in the newest ${newestSearched.toLocaleString('en')} payments and refunds.
          ${link('/payments', 'The list of payments')} has filters by time, status and gateway.</p>`,
      status: 404,
    },
    searched,
  );
};

export const searchRoutes = (deps: Deps): Route[] => {
  /** Does not show the pasted secret, and keeps only the prefix that token lists show anyway. */
  const showSecret = async (
    found: string,
    { cells, session }: PersonRequest,
  ): Promise<ConsoleResponse> => {
    const all = found.startsWith('svc_')
      ? await deps.queries.findToken(found.slice(0, prefixLength))
      : [];
    const owners = all.filter(({ application }) => isVisible(application, session));
    return page(
      'This is a secret',
      html`${notice(
        'bad',
        'You pasted a token or a webhook secret. It went into no address and no log of the console. Whoever else saw it can use it: revoke the token, or rotate the secret.',
      )}
        ${cells.table({
          caption: 'Tokens that begin like it',
          rows: owners.map(({ application, name }) => ({
            Application: link(`/applications/${application}`, application),
            'Name of the token': name,
          })),
          ifEmpty: 'No token here begins like it.',
        })}`,
    );
  };

  const byShape = async (
    text: string,
    request: PersonRequest,
  ): Promise<Found | ConsoleResponse | undefined> => {
    const { operations, session } = request;
    const id = paymentIn.exec(text.replaceAll(/\s/g, ''))?.[0].toUpperCase() ?? '';
    if (paymentIdPattern.test(id)) {
      const application = await operations.payments.applicationOf(id);
      const isThere = application !== undefined && isVisible(application, session);
      return isThere ? redirect(`/payments/${id}`) : { by: 'the id of a payment' };
    }
    const refund = refundIn.exec(text.replaceAll(/\s/g, ''))?.[0].toUpperCase() ?? '';
    if (refundIdPattern.test(refund)) {
      const application = await operations.refunds.applicationOf(refund);
      const isThere = application !== undefined && isVisible(application, session);
      return isThere ? redirect(`/refunds/${refund}`) : { by: 'the id of a refund' };
    }
    const dispute = disputeIn.exec(text.replaceAll(/\s/g, ''))?.[0].toUpperCase() ?? '';
    if (disputeIdPattern.test(dispute)) {
      const application = await operations.disputes.applicationOf(dispute);
      const isThere = application !== undefined && isVisible(application, session);
      return isThere ? redirect(`/disputes/${dispute}`) : { by: 'the id of a dispute' };
    }
    const ofLink = linkIn.exec(text.replaceAll(/\s/g, ''))?.[0].toUpperCase() ?? '';
    if (linkIdPattern.test(ofLink)) {
      const application = await operations.links.applicationOf(ofLink);
      const isThere = application !== undefined && isVisible(application, session);
      return isThere ? redirect(`/links/${ofLink}`) : { by: 'the id of a link' };
    }
    if (replayIdPattern.test(text)) return redirect(`/deliveries/replays/${text}`);
    if (eventIdPattern.test(text.toLowerCase())) {
      const event = await deps.queries.findByEvent(text.toLowerCase());
      return event && isVisible(event.application, session)
        ? redirect(`/events/${text.toLowerCase()}`)
        : { by: 'the id of an event' };
    }
    if (!requestIdPattern.test(text)) return undefined;
    const application = await deps.refusedRequests.getApplication(text);
    if (application !== undefined && isVisible(application, session))
      return redirect(`/applications/${application}/requests?id=${text}`);
    if (session.applications !== null)
      return page(
        'A request',
        html`<p>It is not among the last requests of your applications that were refused.</p>`,
        404,
      );
    return page(
      'A request',
      html`<p>Requests stand in the API’s log and not in the database. Look there for this id:</p>
        <pre><code>docker compose logs --no-log-prefix api | grep ${text}</code></pre>`,
    );
  };

  const search = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const typed = request.form.get('text') ?? '';
    if (typed.length > textMax) return noText;
    const [pasted] = secret.exec(typed) ?? [];
    if (pasted !== undefined) return showSecret(pasted, request);
    const shaped = await byShape(readSearch(typed).text, request);
    if (shaped && 'kind' in shaped) return shaped;
    if (shaped)
      return resultPage(
        { meaning: { ...readSearch(typed), moneyProblem: null }, tried: [shaped] },
        typed,
        request,
      );
    const gathered = await gather(deps, typed, request);
    const [only, ...others] = new Set(gathered.tried.flatMap(pagesOf));
    const isSure = only !== undefined && others.length === 0 && !gathered.meaning.isCardNumber;
    if (isSure) return redirect(only);
    // The text is no secret: records have it. The page has an address, to come back to.
    if (only !== undefined && !gathered.meaning.isCardNumber)
      return redirect(`/search?${String(new URLSearchParams({ text: typed }))}`);
    return resultPage(gathered, typed, request);
  };

  /** The things of a text, at an address. */
  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { query } = request;
    if (!query.has('text')) return redirect('/');
    const typed = query.readText('text', textMax);
    if (typed === null) return noText;
    const [pasted] = secret.exec(typed) ?? [];
    if (pasted !== undefined) return showSecret(pasted, request);
    return resultPage(await gather(deps, typed, request), typed, request);
  };

  return [
    { method: 'POST', path: '/search', role: 'viewer', owner: 'person', handle: search },
    { method: 'GET', path: '/search', role: 'viewer', owner: 'person', handle: show },
  ];
};
