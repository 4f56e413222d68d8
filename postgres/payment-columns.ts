import type { Payment } from '../contract/payment.ts';
import { storedFields } from '../contract/payment-fields.ts';
import type { Fragment, Queries } from './driver/sql.ts';

type Property = keyof Payment;

/** A column is named like the property, in snake case: `orderId` is `order_id`. */
export const columnName = (property: string): string =>
  property.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const allProperties = storedFields.map(({ property }) => property);
const createdFields = storedFields.filter(({ writtenBy }) => writtenBy === 'create');

/** The columns of `payments p` for a select list, under the names that {@link Payment} has for them. */
export const selectPayment = (
  sql: Queries,
  properties: readonly Property[] = allProperties,
): Fragment =>
  sql.unsafe(properties.map((name) => `p.${columnName(name)} as "${name}"`).join(', '));

/** The trace id in the `traceparent` of the payment `p`. */
export const selectTraceId = (sql: Queries): Fragment =>
  sql`substr(p.traceparent, 4, 32) as "traceId"`;

/** Joins the payment `p` of the event `e`. The event of a link may have none. */
export const joinPaymentOfEvent = (sql: Queries): Fragment =>
  sql`left join payments p on p.id = e.payment_id`;

/** The start of the workflow that delivers the event `e` needs these columns, with the payment `p`. */
export const selectStartOfEvent = (sql: Queries): Fragment => sql`
  coalesce(p.id, e.subject) as id, e.application,
  coalesce(p.order_id, (select order_id from links where id = e.subject)) as "orderId",
  p.amount, p.currency, p.gateway, p.expires_at as "expiresAt",
  case when e.kind like 'refund.%' then e.subject end as "refundId",
  (select amount from refunds where id = e.subject) as "refundAmount",
  case when e.kind like 'dispute.%' or e.kind like 'link.%' then e.id end as "ownEventId"`;

/** The columns that a create writes. */
export const insertColumns = (sql: Queries): Fragment =>
  sql.unsafe(createdFields.map(({ property }) => columnName(property)).join(', '));

/** The text between the values: `$1::text, $2::text, …`. One template costs less than a fragment a value. */
const betweenValues = createdFields.map(({ codec }, index) =>
  index === createdFields.length - 1 ? `::${codec.sqlType}` : `::${codec.sqlType}, `,
);
const valuesTemplate = Object.assign(['', ...betweenValues], { raw: ['', ...betweenValues] });

/** The values of {@link insertColumns}, in the same order. */
export const insertValues = (sql: Queries, payment: Payment): Fragment =>
  sql(valuesTemplate, ...createdFields.map(({ property }) => payment[property]));
