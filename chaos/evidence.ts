import type { Disruptions } from './disruptions.ts';
import type { Journal } from './journal.ts';
import type { Post } from './receiver.ts';
import type { CreatedPayment, RefusedScenario } from './scenarios.ts';
import type { ServiceRecords } from './service-records.ts';

export interface Violation {
  order: string;
  /** Undefined for an order without a payment, or with more than one. */
  payment?: CreatedPayment;
  text: string;
}

export interface Evidence {
  payments: readonly CreatedPayment[];
  refused?: readonly RefusedScenario[];
  records: ServiceRecords;
  posts: readonly Post[];
  disruptions: Disruptions;
  journal: Journal;
}
