import { html } from 'hono/html';
import { formatMoney } from '../../../contract/money.ts';
import {
  type AccountMonth,
  moneyOf,
  type MonthOfAccounts,
  monthPartNames,
  monthParts,
  restOf,
} from '../../operations/account-month.ts';
import type { OpenDifferences } from '../../../postgres/accounts/days.ts';
import type { BookedPayout } from '../../../postgres/admin/payouts.ts';
import {
  coded,
  codedState,
  cut,
  type Html,
  marked,
  nowrap,
  type Row,
  shortId,
  stacked,
} from '../html.ts';
import type { PersonRequest } from '../request.ts';
import { amountOf, applicationOf, tooMany } from './account-day.ts';
import { guideLink } from './difference-guide.ts';
import { payoutAddress } from './payouts.ts';

const shownPayouts = 200;

const sumRows = (accounts: readonly AccountMonth[]): Row[] => {
  const isUsed = (part: keyof typeof monthParts) =>
    part !== 'elsewhere' || accounts.some(({ elsewhere }) => elsewhere !== 0);
  return accounts.map((account) => ({
    Account: `${account.gateway}, ${account.currency}`,
    'Open differences': account.openDifferences.toLocaleString('en'),
    ...Object.fromEntries(
      monthPartNames
        .filter(isUsed)
        .map((part) => [monthParts[part], amountOf(account[part], account.currency)]),
    ),
    'Left at the gateway': amountOf(account.left, account.currency),
  }));
};

const balanceRows = (accounts: readonly AccountMonth[]): Row[] =>
  accounts.flatMap(({ gateway, currency, left, balance }) =>
    balance === null
      ? []
      : [
          {
            Account: `${gateway}, ${currency}`,
            Days: `${balance.openingDay} – ${balance.closingDay}`,
            'At the beginning': amountOf(balance.opening, currency),
            'Left at the gateway': amountOf(left, currency),
            'Not booked': balance.notBooked === null ? null : amountOf(balance.notBooked, currency),
            'At the end': amountOf(balance.closing, currency),
          },
        ],
  );

/** The month by application, where it has several. */
const applicationRows = (accounts: readonly AccountMonth[]): Row[] =>
  accounts.flatMap(({ gateway, currency, sums }) =>
    sums.map(({ application, kind, count, amount }) => ({
      Account: `${gateway}, ${currency}`,
      Application: applicationOf(application),
      Kind: coded('movement', kind),
      Movements: count.toLocaleString('en'),
      Amount: amountOf(amount, currency),
    })),
  );

/** Whether its lines give the payout, or what is in none of them. */
const restPart = (payout: BookedPayout): Html => {
  const rest = restOf(payout);
  if (payout.kind === 'payout_returned') return marked('off', 'came back');
  if (rest === 0) return marked('good', 'lines add up');
  if (rest !== null)
    return html`${marked('bad', formatMoney({ amount: rest, currency: payout.currency }))} in no line`;
  return payout.lines === null ? html`` : coded('payoutLines', payout.lines);
};

const payoutRow = (payout: BookedPayout): Row => {
  const { gateway, id, status } = payout;
  return {
    Payout: id === null ? null : shortId(payoutAddress({ gateway, id }), id),
    Account: gateway,
    Booked: nowrap(payout.day),
    Amount: amountOf(-payout.amount, payout.currency),
    Status: status && codedState('payoutStatus', status),
    'At the bank on': payout.arrivesOn && nowrap(payout.arrivesOn),
    'Bank’s line': stacked(
      payout.descriptor === null ? null : cut(payout.descriptor),
      payout.bankReference === null ? null : cut(payout.bankReference),
    ),
    'Its lines': restPart(payout),
  };
};

const differenceRow = ({ gateway, kind, count, ...sides }: OpenDifferences): Row => ({
  Difference: html`${coded('difference', kind)}<br />${guideLink(kind)}`,
  Account: gateway,
  Open: count.toLocaleString('en'),
  Ours: moneyOf(sides.ours, sides.ourCurrency),
  Theirs: moneyOf(sides.theirs, sides.theirCurrency),
});

/** The month of the accounts: what moved by kind, the payouts beside the bank's lines, and what is open. */
export const monthPart = (
  { cells }: PersonRequest,
  found: MonthOfAccounts | undefined,
  { isOfApplication }: { isOfApplication: boolean },
): Html => {
  if (found === undefined) return html`<h2 id="month">Sums of the month</h2>${tooMany}`;
  const { accounts, payouts, differences } = found;
  const balances = balanceRows(accounts);
  return html`<h2 id="month">Sums of the month</h2>
    <div class="sums">
      ${cells.table({
        caption: 'Sums of the month',
        rows: sumRows(accounts),
        ifEmpty: 'No money moved in this month.',
      })}
    </div>
    ${
      balances.length === 0
        ? ''
        : html`<h2>Balances that gateways report</h2>
          <div class="sums">
            ${cells.table({ caption: 'Balances that gateways report', rows: balances, ifEmpty: '' })}
          </div>`
    }
    ${
      accounts.length === 0
        ? ''
        : html`<details>
            <summary>By application and kind</summary>
            ${cells.table({ caption: 'Sums by application and kind', rows: applicationRows(accounts), ifEmpty: '' })}
          </details>`
    }
    ${
      isOfApplication
        ? ''
        : html`<h2>Payouts of the month</h2>
            ${
              payouts.length > shownPayouts
                ? html`<p>These are the first ${shownPayouts}. The file of the month has them all.</p>`
                : ''
            }
            ${cells.table({
              caption: 'Payouts of the month',
              rows: payouts.slice(0, shownPayouts).map(payoutRow),
              ifEmpty: 'No payout was booked in this month.',
              isList: true,
            })}`
    }
    <h2>What is open in the month</h2>
    ${cells.table({
      caption: 'Open differences of the month',
      rows: differences.map(differenceRow),
      ifEmpty: 'No difference of this month is open.',
    })}`;
};
