/**
 * `payment_without_workflow`: an open payment whose workflow does not run.
 * `delivery_without_workflow`: an undelivered payment whose workflow does not run.
 * `late_payment_without_workflow`: late money was found, and its workflow does not run.
 * `refund_without_workflow`: a refund that has not ended, and that no person decides, whose workflow does not run.
 * `refund_totals_differ`: the sums of a payment are not those of its refunds. No statement of the service writes that.
 * `delivery_overdue`: more than 2 minutes late, although the workflow runs: the workers are behind.
 * `payment_overdue`: 20 minutes past its deadline, and its running workflow does not inquire. After a
 * restore, the workflow may be past an end that Postgres has lost. Reset it to its first task.
 * `end_without_delivery`: ended without an event or a delivery. No statement of the service writes that.
 * `workflow_without_payment`: in Temporal only.
 * The texts are for people. docs/operating/reconciling.md explains each of them.
 */
export const differenceTexts = {
  payment_without_workflow: 'open payment without a workflow',
  delivery_without_workflow: 'undelivered event without a workflow',
  late_payment_without_workflow: 'late payment without a workflow',
  refund_without_workflow: 'open refund without a workflow',
  refund_totals_differ: 'payment with other sums than its refunds',
  delivery_overdue: 'delivery overdue, workflow runs',
  payment_overdue: 'payment overdue, workflow runs',
  end_without_delivery: 'ended payment without an event or delivery',
  workflow_without_payment: 'workflow without a payment',
} as const;
export type DifferenceKind = keyof typeof differenceTexts;
