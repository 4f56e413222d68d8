import { html } from 'hono/html';
import type { PaidOutLine, PayoutRecord } from '../../../postgres/admin/payouts.ts';
import type { PayoutSums } from '../../operations/payouts.ts';
import { choiceOf } from '../filter-bar.ts';
import { pageOf, pageSize } from '../filters.ts';
import { coded, codedState, cut, type Html, link, notice, shortId } from '../html.ts';
import { findPage, listPage, listRoutes } from '../list-page.ts';
import { fileName } from '../mode.ts';
import { type ConsoleResponse, page, type PersonRequest, type Route } from '../request.ts';
import { amountOf } from './account-day.ts';

export const payoutAddress = ({ gateway, id }: Pick<PayoutRecord, 'gateway' | 'id'>): string =>
  `/accounts/payouts/${gateway}/${encodeURIComponent(id)}`;

/** The texts that a line of a bank statement may have. */
const textMax = 200;

const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
  const { query, operations, test } = request;
  const text = query.readText('text', textMax);
  const gateways = (await operations.gateways.list())
    .filter(({ kind }) => (kind === 'sandbox') === test)
    .map(({ slug }) => slug);
  const gateway = choiceOf(query, 'gateway', gateways, { label: 'Gateway' });
  const listed = await findPage(
    request,
    (asked) => operations.payouts.list({ gateway: gateway.chosen, test, text }, asked),
    ({ createdAt: at, id }) => ({ at, id }),
  );
  return listPage(request, {
    title: 'Payouts',
    path: '/accounts/payouts',
    choices: [gateway],
    texts: {
      fields: html`<label class="wide">
        The bank’s line: an amount or a reference
        <input name="text" value="${text ?? ''}" maxlength="${textMax}" placeholder="1,504.62 EUR" />
      </label>`,
      isWrong: listed.rows.length === 0,
    },
    chips: text === null ? [] : [{ words: `Bank’s line: ${text}`, names: ['text'] }],
    hasTimes: false,
    listed,
    rowOf: (payout) => ({
      Payout: shortId(payoutAddress(payout), payout.id),
      Amount: amountOf(payout.amount, payout.currency),
      Status: codedState('payoutStatus', payout.status),
      Gateway: link(`/gateways/${payout.gateway}`, payout.gateway),
      'At the bank on': payout.arrivesOn,
      'Bank’s reference': payout.bankReference && cut(payout.bankReference),
      'Its lines': coded('payoutLines', payout.lines),
      Created: payout.createdAt,
    }),
    ifEmpty:
      text === null
        ? 'No payout is known. The comparison of a day reads those of gateways that report them. Some report them only with further credentials.'
        : 'No payout has this amount or this reference.',
    parts: { first: html`<p class="links">${link('/accounts', 'Accounts')}</p>` },
  });
};

const factsOf = (payout: PayoutRecord, { cells }: PersonRequest): Html =>
  cells.facts({
    Amount: amountOf(payout.amount, payout.currency),
    Status: codedState('payoutStatus', payout.status),
    Gateway: link(`/gateways/${payout.gateway}`, payout.gateway),
    'At the bank on': payout.arrivesOn,
    'Text at the bank': payout.descriptor,
    'Bank’s reference': payout.bankReference,
    'Its lines': coded('payoutLines', payout.lines),
    Created: payout.createdAt,
    Id: html`<code>${payout.id}</code>`,
  });

const restNotice = ({ rest }: PayoutSums, { currency, lines }: PayoutRecord): Html => {
  if (lines === 'never')
    return notice(
      'info',
      'The gateway does not say which payments this amount is of: somebody has chosen it, or the gateway reports the sum alone.',
    );
  if (rest === null)
    return notice('info', 'The gateway has not listed its lines yet. The service asks it again.');
  return rest === 0
    ? notice('good', 'The lines give the amount of the payout.')
    : notice(
        'bad',
        html`The lines give another amount: ${amountOf(rest, currency)} of the payout ${Math.abs(rest) === 1 ? 'is' : 'are'}
          in no line that is here. Compare the days of its lines again.`,
      );
};

const sumTable = ({ sums }: PayoutSums, { cells }: PersonRequest): Html =>
  html`<div class="sums">${cells.table({
    caption: 'What it has paid out',
    rows: sums.map(({ kind, currency, lines, amount, fee, net }) => ({
      Kind: coded('statementLine', kind),
      Lines: lines.toLocaleString('en'),
      Amount: amountOf(amount, currency),
      Fees: amountOf(-fee, currency),
      Net: amountOf(net, currency),
    })),
    ifEmpty: 'No line of it is here.',
  })}</div>`;

const lineTable = (lines: readonly PaidOutLine[], { cells }: PersonRequest): Html =>
  cells.table({
    caption: 'Lines',
    isList: true,
    rows: lines.map((line) => ({
      Line: cut(line.id),
      Kind: coded('statementLine', line.kind),
      Payment:
        line.paymentId &&
        (line.orderId === null
          ? shortId(`/payments/${line.paymentId}`, line.paymentId)
          : html`<a href="/payments/${line.paymentId}" title="${line.paymentId}">${cut(line.orderId)}</a>`),
      Refund: line.refundId && shortId(`/refunds/${line.refundId}`, line.refundId),
      Application: line.application && link(`/applications/${line.application}`, line.application),
      Amount: amountOf(line.amount, line.currency),
      Fee: amountOf(-line.fee, line.currency),
      Net: amountOf(line.net, line.currency),
      At: line.at,
    })),
    ifEmpty: 'No line of it is here.',
  });

const show = async (request: PersonRequest): Promise<ConsoleResponse> => {
  const { params, query, operations, session } = request;
  const payout = await operations.payouts.get(params.gateway, params.payout);
  const after = query.get('after')?.replaceAll(/\p{Cc}/gu, '') ?? '';
  const [sums, found] = await Promise.all([
    operations.payouts.sum(payout),
    operations.payouts.lines(payout, { after, limit: pageSize + 1 }),
  ]);
  const { rows, last } = pageOf(found);
  const path = payoutAddress(payout);
  return page(
    `Payout ${payout.id}`,
    html`<p class="links">
        ${link('/accounts/payouts', 'Payouts')}
        ${session.role === 'viewer' ? '' : link(`${path}/file`, 'Its lines as CSV')}
      </p>
      ${factsOf(payout, request)} ${restNotice(sums, payout)}
      <h2>What it has paid out</h2>
      ${sumTable(sums, request)}
      <h2>Lines</h2>
      ${lineTable(rows, request)}
      ${
        last
          ? html`<nav class="pages" aria-label="Pages"><a href="${path}?after=${encodeURIComponent(last.id)}" rel="next">More</a></nav>`
          : ''
      }`,
  );
};

const file = async ({ params, operations, test }: PersonRequest): Promise<ConsoleResponse> => {
  const payout = await operations.payouts.get(params.gateway, params.payout);
  const name = fileName(`payout-${payout.gateway}-${payout.id}`, test);
  return { kind: 'file', name, lines: operations.payouts.exportLines(payout) };
};

/** From the line of a bank statement to the payments. An account is of the whole service, so its payouts are, too. */
export const payoutRoutes: Route[] = [
  ...listRoutes('/accounts/payouts', list),
  { method: 'GET', path: '/accounts/payouts/:gateway/:payout', role: 'viewer', handle: show },
  {
    method: 'GET',
    path: '/accounts/payouts/:gateway/:payout/file',
    role: 'operator',
    handle: file,
  },
];
