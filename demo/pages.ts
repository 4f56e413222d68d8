import { html } from 'hono/html';
import type { Gateway } from '../client/src/index.ts';
import { formatMoney, type Html } from './layout.ts';
import { appearanceOf, badge, formatTime, orderPath } from './order-page.ts';
import type { Order } from './orders.ts';
import { currency, type Product, products } from './products.ts';

/** @param gateways those that the payer may choose */
export const shopPage = (gateways: readonly Gateway[]): Html =>
  html`<h1>Good coffee, paid for properly</h1>
    <p class="lead">
      Choose something. On the payment page you decide how the payment ends.
    </p>
    <ul class="products">
      ${products.map((product) => productCard(product, gateways))}
    </ul>`;

const productCard = (
  { id, name, note, amount, drawing }: Product,
  gateways: readonly Gateway[],
): Html => {
  const choices = gateways.filter((gateway) => takes(gateway, amount)).map(({ slug }) => slug);
  return html`<li class="card">
    <div class="drawing">
      <svg viewBox="0 0 24 24" aria-hidden="true"><path d="${drawing}" /></svg>
    </div>
    <h2>${name}</h2>
    <p class="soft">${note}</p>
    <form method="post" action="/buy">
      <input type="hidden" name="product" value="${id}" />
      ${choices.length > 1 ? gatewayChoice(name, choices) : ''}
      <span class="price">${formatMoney({ amount, currency })}</span>
      <button aria-label="Buy ${name}">Buy</button>
    </form>
  </li>`;
};

/** Its currencies are the shop's alone. */
const takes = ({ currencies }: Gateway, amount: number): boolean =>
  currencies.some(({ min, max, step }) => amount >= min && amount <= max && amount % step === 0);

const gatewayChoice = (product: string, gateways: readonly string[]): Html =>
  html`<select name="gateway" aria-label="Pay for ${product} with">
    <option value="">any gateway</option>
    ${gateways.map((slug) => html`<option>${slug}</option>`)}
  </select>`;

export const ordersPage = ({ orders, version }: { orders: Order[]; version: string }): Html =>
  html`<h1>Orders</h1>
    <p class="lead">An order changes here by itself when its webhook arrives.</p>
    <div data-live="${version}" data-news="${describe(orders)}">
      ${
        orders.length === 0
          ? html`<p class="card">No orders yet. <a href="/">Buy something</a> first.</p>`
          : html`<ul class="orders card">
              ${orders.map(orderRow)}
            </ul>`
      }
    </div>`;

/** The newest three, as a screen reader reads all of it at each change. */
const describe = (orders: Order[]): string =>
  orders
    .slice(0, 3)
    .map((order) => `${order.item}: ${appearanceOf(order).name}`)
    .join(', ');

const orderRow = (order: Order): Html =>
  html`<li>
    <span class="what">
      <a href="${orderPath(order)}">${order.item}</a>
      <small>${order.orderId} · ${formatTime(order.createdAt)}</small>
    </span>
    <span class="price">${formatMoney(order)}</span>
    ${badge(order)}
  </li>`;

export const messagePage = ({ title, message }: { title: string; message: string }): Html =>
  html`<h1>${title}</h1>
    <p class="lead">${message}</p>
    <p><a class="button" href="/">Back to the shop</a></p>`;
