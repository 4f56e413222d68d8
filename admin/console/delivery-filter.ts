import { errorClasses } from '../../contract/attempt.ts';
import { eventKinds } from '../../contract/event.ts';
import { eventIdPattern } from '../../contract/ids.ts';
import { Refusal } from '../operations/change.ts';
import {
  type DeliveryFilter,
  deliveryStates,
  everyDelivery,
} from '../../postgres/webhooks/delivery-filter.ts';
import { replayable, type ReplayFilter } from '../../postgres/webhooks/replays.ts';
import { choiceOf, type Choices, chosenOf } from './filter-bar.ts';
import { pageSize, readApplication } from './filters.ts';
import { modeIn, modeName } from './mode.ts';
import { readTimes } from './period.ts';
import type { Query } from './query.ts';
import type { ConsoleRequest } from './request.ts';

type Asked = Pick<ConsoleRequest, 'query' | 'zone' | 'test'>;

/** A filter of one mode. */
type ListedFilter = DeliveryFilter & { test: boolean };

export const deliveryChoices = (query: Query) =>
  ({
    kind: choiceOf(query, 'kind', eventKinds, { label: 'Event', of: 'event' }),
    delivery: choiceOf(query, 'status', deliveryStates, { label: 'Webhook', of: 'delivery' }),
    errorClass: choiceOf(query, 'error', errorClasses, {
      label: 'Last error',
      any: 'any',
      of: 'attemptError',
    }),
  }) satisfies Choices<DeliveryFilter>;

/** Reads the filter of a list of deliveries from its address. @param application the list is of this one alone */
export const readDeliveryFilter = (
  request: Asked,
  now: Date,
  application = readApplication(request.query),
): ListedFilter => ({
  ...everyDelivery,
  application,
  test: request.test,
  ...readTimes(request, now),
  ...chosenOf(deliveryChoices(request.query)),
});

/** The same filter in an address, with its mode and without a selection. */
export const writeDeliveryFilter = (filter: DeliveryFilter): URLSearchParams => {
  const { application, test, kind, delivery, errorClass, from, to } = filter;
  const texts = {
    status: delivery,
    application,
    mode: test === null ? null : modeName(test),
    kind,
    error: errorClass,
    from: from && from.toISOString(),
    to: to && to.toISOString(),
  };
  return new URLSearchParams(
    Object.entries(texts).filter((each): each is [string, string] => each[1] !== null),
  );
};

const unclear = () =>
  new Refusal('The address does not say what to replay. Begin at the list of deliveries.');

/**
 * Reads what a replay takes: all that match, or those of them that a person has selected. It refuses an address that
 * says anything else than the filter as the list writes it.
 */
export const readReplayFilter = (query: Query): ReplayFilter => {
  const test = modeIn(query);
  if (test === undefined) throw unclear();
  const filter = readDeliveryFilter({ query, zone: 'UTC', test }, new Date(0));
  const written = writeDeliveryFilter(filter);
  for (const [name, text] of query)
    if (name !== 'scope' && name !== 'event' && written.get(name) !== text)
      throw new Refusal(
        `A replay does not know this filter: ${name}. Begin at the list of deliveries.`,
      );
  const delivery = replayable.find((status) => status === filter.delivery);
  const [scope, ...others] = query.getAll('scope');
  const { to } = filter;
  if (!delivery || !to || others.length > 0 || (scope !== 'all' && scope !== 'selected'))
    throw unclear();
  // The form of the list sends its selection also with the button for all.
  const eventIds = query.getAll('event');
  if (scope === 'all') return { ...filter, delivery, to };
  if (eventIds.length === 0) throw new Refusal('Select a delivery first.');
  if (eventIds.length > pageSize || !eventIds.every((id) => eventIdPattern.test(id)))
    throw new Refusal('The selection is not one of the list of deliveries.');
  return { ...filter, delivery, to, eventIds };
};
