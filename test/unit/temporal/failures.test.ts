import {
  ActivityFailure,
  ApplicationFailure,
  ApplicationFailureCategory,
  defaultFailureConverter,
  defaultPayloadConverter,
  RetryState,
} from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import {
  activityFailureType,
  gatewayBusy,
  gatewayUnavailable,
  paymentNotFound,
  sweepFailed,
} from '../../../temporal/failures.ts';

const activityFailure = (cause: Error) =>
  new ActivityFailure('Activity task failed', 'verifyPayment', '1', RetryState.TIMEOUT, '', cause);

/** A timeout as the SDK makes it of a message from Temporal. */
const timeoutAfter = (last?: ApplicationFailure) =>
  defaultFailureConverter.failureToError(
    {
      message: 'activity timeout',
      timeoutFailureInfo: {},
      ...(last && { cause: defaultFailureConverter.errorToFailure(last, defaultPayloadConverter) }),
    },
    defaultPayloadConverter,
  );

it.each([
  [
    'benign with a retry delay if it belongs to normal operation',
    gatewayBusy('sandbox', 250),
    {
      ...{ type: 'GatewayBusy', nextRetryDelay: 250, nonRetryable: false },
      category: ApplicationFailureCategory.BENIGN,
    },
  ],
  [
    'not benign if a task of the sweep failed',
    sweepFailed('healPayments: away', 1_000),
    { type: 'SweepFailed', nextRetryDelay: 1_000, category: undefined },
  ],
  [
    'final if a retry cannot help',
    paymentNotFound('PAY_1'),
    { type: 'PaymentNotFound', nonRetryable: true },
  ],
])('the failure of an activity is %s', (_, failure, expected) => {
  expect(failure).toMatchObject(expected);
});

describe('activityFailureType', () => {
  it('returns the type of the last failure', () => {
    expect(activityFailureType(activityFailure(gatewayUnavailable('timeout')))).toBe(
      'GatewayUnavailable',
    );
  });

  it('returns the type of the failure before a timeout', () => {
    const timeout = timeoutAfter(gatewayBusy('sandbox', 250));
    expect(activityFailureType(activityFailure(timeout))).toBe('GatewayBusy');
  });

  it('returns Other for a failure that is not ours', () => {
    expect(activityFailureType(activityFailure(timeoutAfter()))).toBe('Other');
    expect(activityFailureType(activityFailure(new Error('Our fault')))).toBe('Other');
  });

  it('returns undefined for an error that no activity threw', () => {
    expect(activityFailureType(new Error('Our fault'))).toBeUndefined();
    expect(activityFailureType(ApplicationFailure.create({ type: 'GatewayBusy' }))).toBeUndefined();
  });
});
