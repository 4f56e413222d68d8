import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { z } from 'zod';
import type * as client from '../../../client/src/index.ts';
import { version } from '../../../client/src/index.ts';
import type { ApplicationResponse } from '../../../contract/application-response.ts';
import type { CreatePayment } from '../../../contract/create-payment.ts';
import type { EventListResponse, EventResponse } from '../../../contract/event-responses.ts';
import type { EventBody } from '../../../contract/event-schema.ts';
import type { MovementListResponse } from '../../../contract/movement-responses.ts';
import type { PaymentListResponse, PaymentResponse } from '../../../contract/payment-responses.ts';
import { clientTypes, clientTypesPath } from '../../../tools/client-types.ts';
import { readProjectFile } from '../../support/checks/project-files.ts';

it('the types are those of the released document', async () => {
  expect(readFileSync(clientTypesPath, 'utf8')).toBe(await clientTypes());
});

it('the version is that of the package', () => {
  expect(version).toBe(
    (JSON.parse(readProjectFile('client/package.json')) as { version: string }).version,
  );
});

/** The shape alone: the service's own types say less about texts, such as the currencies. */
type Shape<T> = T extends string ? string : T extends object ? { [K in keyof T]: Shape<T[K]> } : T;
/** Does not compile unless each is assignable to the other. */
type Same<A extends B, B extends C, C = A> = [A, B, C];
export type Compared = [
  Same<Shape<client.Payment>, Shape<PaymentResponse>>,
  Same<Shape<client.PaymentList>, Shape<PaymentListResponse>>,
  Same<Shape<client.Application>, Shape<ApplicationResponse>>,
  Same<Shape<client.Event>, Shape<EventBody>>,
  Same<Shape<client.EventDetail>, Shape<EventResponse>>,
  Same<Shape<client.EventList>, Shape<EventListResponse>>,
  Same<Shape<client.MovementList>, Shape<MovementListResponse>>,
];
type Accepted<A extends B, B> = [A, B];
export type Sent = Accepted<client.CreatePayment, z.input<typeof CreatePayment>>;
