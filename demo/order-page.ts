import { html } from 'hono/html';
import { formatMoney, type Html } from './layout.ts';
import { canRefund, isOpen, type Order, type ReceivedWebhook } from './orders.ts';

interface Appearance {
  name: string;
  mark: string;
  tone: 'good' | 'bad' | 'wait' | 'off';
  /** For a payer who comes back. */
  heading: string;
}

const appearances: Record<string, Appearance> = {
  pending: { name: 'Waiting for payment', mark: '…', tone: 'wait', heading: 'One moment' },
  processing: { name: 'Being confirmed', mark: '…', tone: 'wait', heading: 'One moment' },
  paid: { name: 'Paid', mark: '✓', tone: 'good', heading: 'Thank you, it is paid' },
  failed: { name: 'Failed', mark: '✕', tone: 'bad', heading: 'The payment failed' },
  cancelled: { name: 'Cancelled', mark: '–', tone: 'off', heading: 'You cancelled the payment' },
  expired: { name: 'Expired', mark: '–', tone: 'off', heading: 'The payment ran out of time' },
  disputed: {
    name: 'Amount differs',
    mark: '!',
    tone: 'bad',
    heading: 'This payment needs a review',
  },
};

const refundTexts = {
  succeeded: 'given back',
  pending: 'on its way',
  failed: 'not possible',
} as const;

/** For instance: the whole sum given back, or a part of it. */
const refundText = ({ refunds, currency }: Order): string =>
  (['succeeded', 'pending', 'failed'] as const)
    .filter((state) => refunds[state] > 0)
    .map((state) => `${formatMoney({ amount: refunds[state], currency })} ${refundTexts[state]}`)
    .join(', ');

/** The service can introduce statuses that this shop does not know. */
export const appearanceOf = ({ status }: Order): Appearance =>
  appearances[status] ?? { name: status, mark: '?', tone: 'off', heading: 'Your order' };

export const badge = (order: Order): Html => {
  const { name, mark, tone } = appearanceOf(order);
  return html`<span class="badge ${tone}"><span aria-hidden="true">${mark}</span>${name}</span>`;
};

export const orderPath = ({ orderId }: Pick<Order, 'orderId'>): string =>
  `/orders/${encodeURIComponent(orderId)}`;

export const formatTime = (time: Date): Html =>
  html`<time datetime="${time.toISOString()}"
    >${time.toISOString().slice(0, 19).replace('T', ' ')} UTC</time
  >`;

export interface OrderView {
  order: Order;
  version: string;
  workflowUrl: string | null;
  /** The status in the address, on the return page only. */
  hint?: string | undefined;
}

/** One order with its last webhook. With a `hint` it is the page that a payer comes back to. */
export const orderPage = ({ order, version, workflowUrl, hint }: OrderView): Html => {
  const { name, heading } = appearanceOf(order);
  return html`<div data-live="${version}" data-news="${order.item}: ${name}">
    <h1>${hint === undefined ? order.item : heading}</h1>
    ${hint === undefined ? '' : hintText(hint, order)}
    <section class="card" aria-label="The order">
      <p>${badge(order)}</p>
      ${order.failureReason === null ? '' : html`<p>${order.failureReason}</p>`}
      <dl class="facts">
        <dt>Item</dt>
        <dd>${order.item}</dd>
        <dt>Total</dt>
        <dd>${formatMoney(order)}</dd>
        <dt>Order</dt>
        <dd><code>${order.orderId}</code></dd>
        <dt>Payment</dt>
        <dd><code>${order.paymentId}</code></dd>
        ${
          refundText(order) === ''
            ? ''
            : html`<dt>Money back</dt>
        <dd>${refundText(order)}</dd>`
        }
      </dl>
      ${actions({ order, workflowUrl, hint })}
    </section>
    <section class="card webhook" aria-labelledby="webhook">
      <div class="titled">
        <h2 id="webhook">The last webhook</h2>
        ${order.webhook ? verified : ''}
      </div>
      ${order.webhook ? webhookPart(order.webhook) : noWebhook}
    </section>
  </div>`;
};

const hintText = (hint: string, order: Order): Html =>
  html`<p class="lead">
    Your browser came back with <strong>${hint || 'no status'}</strong>. Anybody can type that into
    an address bar, so it is only a hint:
    ${
      isOpen(order)
        ? 'the order changes here by itself when the signed webhook arrives.'
        : 'the signed webhook below decides.'
    }
  </p>`;

/** A payer who comes back with another status may have paid, and must not pay again. */
const canBePaid = ({ order, hint = 'pending' }: Pick<OrderView, 'order' | 'hint'>) =>
  order.status === 'pending' && hint === 'pending';

const actions = ({ order, workflowUrl, hint }: Omit<OrderView, 'version'>): Html =>
  html`<div class="actions">
    ${
      order.checkoutUrl !== null && canBePaid({ order, hint })
        ? html`<a class="button" href="${order.checkoutUrl}">Go to payment</a>`
        : html`<a class="button" href="/">Back to the shop</a>`
    }
    ${
      canRefund(order)
        ? html`<form method="post" action="${orderPath(order)}/refund">
            <button class="button">Give the money back</button>
          </form>`
        : ''
    }
    <a href="/orders">All orders</a>
    ${workflowUrl === null ? '' : html`<a href="${workflowUrl}">Its workflow in Temporal</a>`}
  </div>`;

const verified = html`<span class="badge good"
  ><span aria-hidden="true">✓</span>Signature verified</span
>`;

const noWebhook = html`<p class="soft last">
  None has arrived. It comes when the payment has ended. The shop reads events that it missed from the feed.
</p>`;

const webhookPart = ({ receivedAt, headers, rawBody, times }: ReceivedWebhook): Html =>
  html`<p class="soft">
      Received at
      ${formatTime(new Date(receivedAt))}${
        times > 1
          ? `, ${times} times in all: the shop knows repeats by their event_id and ignores them`
          : ''
      }.
    </p>
    <h3>Headers</h3>
    <dl class="facts">
      ${Object.entries(headers).map(
        ([name, value]) =>
          html`<dt><code>${name}</code></dt>
            <dd><code>${value}</code></dd>`,
      )}
    </dl>
    <h3>Body, byte for byte</h3>
    <pre>${rawBody}</pre>`;
