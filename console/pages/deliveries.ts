import { html } from 'hono/html';
import { eventIdPattern } from '../../contract/ids.ts';
import { deliveryStatuses } from '../../contract/status.ts';
import type { DeliveryRow } from '../../postgres/console.ts';
import {
  choose,
  listFilters,
  pageLinks,
  pageSize,
  positionOf,
  readFilter,
  select,
} from '../filters.ts';
import type { Cell } from '../html.ts';
import { idLink, link, state } from '../html.ts';
import type { ConsoleResponse, Deps, PersonRequest, Route } from '../request.ts';
import { page } from '../request.ts';

const headings = [
  'Payment',
  'Ended',
  'Application',
  'Order',
  'Event',
  'Webhook',
  'Attempts',
  'Last answer',
  'Next',
];

const rowOf = (row: DeliveryRow): Cell[] => [
  idLink(`/payments/${row.paymentId}`, row.paymentId),
  row.createdAt,
  html`${link(`/applications/${row.application}`, row.application)}${row.test ? ' (test)' : ''}`,
  row.orderId,
  row.kind,
  state(row.status),
  row.attempts,
  [row.responseStatus, row.errorClass].filter((part) => part !== null).join(' · '),
  row.nextAttemptAt,
];

export const deliveryRoutes = (deps: Deps): Route[] => {
  const list = async (request: PersonRequest): Promise<ConsoleResponse> => {
    const { query, cells } = request;
    const status = choose(query, 'status', deliveryStatuses) ?? 'exhausted';
    const filter = readFilter(query, deps.now());
    const after = filter.after && eventIdPattern.test(filter.after.id) ? filter.after : null;
    const [found, applications] = await Promise.all([
      deps.queries.listDeliveries({ ...filter, after, status }),
      deps.operationsOf(request.session.name).applications.list(1_000),
    ]);
    const rows = found.slice(0, pageSize);
    const last = found.length > pageSize ? rows.at(-1) : undefined;
    const own = select('Webhook', 'status', { choices: deliveryStatuses, chosen: status });
    return page(
      'Deliveries',
      html`${listFilters(query, { own, applications: applications.map(({ slug }) => slug) })}
      ${cells.table({
        caption: 'Deliveries',
        headings,
        rows: rows.map(rowOf),
        ifEmpty:
          status === 'exhausted'
            ? 'No webhook is exhausted: every event was delivered, or will be tried again.'
            : 'No delivery matches this filter.',
      })}
      ${pageLinks('/deliveries', query, {
        next: last ? positionOf({ at: last.createdAt, id: last.eventId }) : null,
      })}`,
    );
  };
  return [{ method: 'GET', path: '/deliveries', role: 'viewer', handle: list }];
};
