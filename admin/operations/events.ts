import { eventIdPattern, paymentIdPattern } from '../../contract/ids.ts';
import type { ListPage } from '../../contract/list.ts';
import {
  createAdminEvents,
  type DeliveryRow,
  type EventRecord,
  type EventSummary,
} from '../../postgres/admin/events.ts';
import { createAdminPayments } from '../../postgres/admin/payments.ts';
import type { DeliveryFilter } from '../../postgres/webhooks/delivery-filter.ts';
import { eventWorkflowId } from '../../temporal/start-options.ts';
import { findApplication } from './applications.ts';
import { NotFound, Refusal } from './change.ts';
import type { Deps } from './deps.ts';

export interface EventDetails {
  event: EventRecord;
  /** The address of the workflow that delivers it. */
  workflowUrl: string | null;
}

/** Reads events of payments, refunds, disputes and links, with their deliveries. */
export const createEventOperations = ({ sql, workflowUrl }: Pick<Deps, 'sql' | 'workflowUrl'>) => {
  const events = createAdminEvents(sql);

  /** @throws Refusal */
  const listOfPayment = async (id: string): Promise<EventSummary[]> => {
    if ((await createAdminPayments(sql).applicationOf(id)) === undefined)
      throw new NotFound(`There is no payment ${id}.`);
    return events.listOfPayment(id);
  };

  return {
    async list(filter: DeliveryFilter, page: ListPage): Promise<DeliveryRow[]> {
      if (filter.application !== null) await findApplication(sql, filter.application);
      return events.list(filter, page);
    },

    /** @throws Refusal */
    find: (id: string): Promise<EventSummary> => findEvent(sql, id),
    listOfPayment,

    /** @throws Refusal */
    async get(id: string): Promise<EventDetails> {
      const event = eventIdPattern.test(id) ? await events.get(id) : undefined;
      if (!event) throw new NotFound(`There is no event ${id}.`);
      const own = (event.disputeId ?? event.linkId) && eventWorkflowId(event.eventId);
      return { event, workflowUrl: workflowUrl(own ?? event.refundId ?? event.paymentId) };
    },

    /**
     * The one event that a person means.
     * @param id its own, or that of a payment with one event
     * @throws Refusal if a payment has none or several
     */
    async named(id: string): Promise<EventSummary> {
      return paymentIdPattern.test(id) ? onlyOne(id, await listOfPayment(id)) : findEvent(sql, id);
    },
  };
};

const onlyOne = (paymentId: string, [event, ...others]: EventSummary[]): EventSummary => {
  if (!event) throw new Refusal(`${paymentId} has not ended yet, so it has no event to deliver.`);
  if (others.length === 0) return event;
  const list = [event, ...others].map(({ eventId, kind }) => `\n  ${eventId}  ${kind}`);
  throw new Refusal(`${paymentId} has several events, so name one of them:${list.join('')}`);
};

/** @throws Refusal */
export const findEvent = async (sql: Deps['sql'], id: string): Promise<EventSummary> => {
  const event = eventIdPattern.test(id) ? await createAdminEvents(sql).find(id) : undefined;
  if (!event) throw new NotFound(`There is no event ${id}.`);
  return event;
};
