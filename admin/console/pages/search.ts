import { html } from 'hono/html';
import {
  eventIdPattern,
  paymentIdPattern,
  refundIdPattern,
  replayIdPattern,
  requestIdPattern,
  slugPattern,
} from '../../../contract/ids.ts';
import { link, notice } from '../html.ts';
import { isVisible, visibleApplications } from '../owner.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page, redirect } from '../request.ts';
import { paymentTable } from './payments.ts';

const foundMax = 20;

const none = (): ConsoleResponse =>
  page(
    'Nothing found',
    html`<p>
      No payment, refund, event, application, order, gateway reference or tracking code is exactly this text. Paste
      the whole id. ${link('/payments', 'The list of payments')} finds the beginning of an order.
    </p>`,
    404,
  );

/** Ids that stand somewhere in a pasted text, in any case. */
const paymentIn = /PAY_[0-9A-HJKMNP-TV-Z]{26}/i;
const refundIn = /REFUND_[0-9A-HJKMNP-TV-Z]{26}/i;

const secret = /svc_(?:live|test)_[\w-]*|whsec_[\w+/=-]*/;
const prefixLength = 13;

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
  ): Promise<ConsoleResponse | undefined> => {
    const [pasted] = secret.exec(text) ?? [];
    if (pasted !== undefined) return showSecret(pasted, request);
    const id = paymentIn.exec(text)?.[0].toUpperCase() ?? '';
    if (paymentIdPattern.test(id)) return redirect(`/payments/${id}`);
    const refund = refundIn.exec(text)?.[0].toUpperCase() ?? '';
    if (refundIdPattern.test(refund)) return redirect(`/refunds/${refund}`);
    if (replayIdPattern.test(text)) return redirect(`/deliveries/replays/${text}`);
    if (eventIdPattern.test(text.toLowerCase())) {
      const event = await deps.queries.findByEvent(text.toLowerCase());
      return event && isVisible(event.application, request.session)
        ? redirect(`/events/${text.toLowerCase()}`)
        : none();
    }
    if (requestIdPattern.test(text)) {
      const application = await deps.refusedRequests.getApplication(text);
      if (application !== undefined && isVisible(application, request.session))
        return redirect(`/applications/${application}/requests?id=${text}`);
      if (request.session.applications !== null)
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
    }
    return undefined;
  };

  const find = async (text: string, request: PersonRequest) => {
    const [payments, applications] = await Promise.all([
      deps.queries.findByText(text, request.session.applications, foundMax),
      slugPattern.test(text) ? visibleApplications(request) : [],
    ]);
    return { payments, application: applications.find((slug) => slug === text) };
  };

  const search = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const typed = request.form.get('text') ?? '';
    const text = typed.trim();
    if (text === '') return none();
    const known = await byShape(text, request);
    if (known) return known;
    for (const each of new Set([text, typed])) {
      const { payments, application } = await find(each, request);
      const [only] = payments;
      if (application && !only) return redirect(`/applications/${application}`);
      if (!application && only && payments.length === 1) return redirect(`/payments/${only.id}`);
      // The text is no secret: records have it. The page has an address, to come back to.
      if (only) return redirect(`/search?${String(new URLSearchParams({ text: each }))}`);
    }
    return none();
  };

  /** The records under exactly this text. */
  const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const text = request.query.get('text') ?? '';
    if (text === '') return redirect('/');
    const { payments, application } = await find(text, request);
    if (!application && payments.length === 0) return none();
    const kinds = [...new Set(payments.map(({ found }) => found))];
    return page(
      'Found',
      html`${
        application
          ? html`<p>Application ${link(`/applications/${application}`, application)}</p>`
          : ''
      }
      ${kinds.map((kind) => {
        const rows = payments.filter(({ found }) => found === kind);
        return html`<h2>By ${kind}: ${rows.length}</h2>
          ${paymentTable(request, rows, '')}
          ${rows.length === foundMax ? html`<p>These are the newest ${foundMax}.</p>` : ''}`;
      })}`,
    );
  };

  return [
    { method: 'POST', path: '/search', role: 'viewer', owner: 'person', handle: search },
    { method: 'GET', path: '/search', role: 'viewer', owner: 'person', handle: show },
  ];
};
