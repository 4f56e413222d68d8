import { describe, expect, it } from 'vitest';
import { end, type End } from '../../../protocol/end.ts';
import { startRecords } from '../../support/data/records.ts';
import { driveEnd } from '../../support/protocol/end-driver.ts';
import { chooseTraces } from '../../support/protocol/traces.ts';
import { forFile } from '../../support/for-file.ts';

const records = await forFile(startRecords({ gatewayKind: 'live' }));

const isInFlight = (s: End) => s.a_at !== 'idle' || s.b_at !== 'idle';
const traces = chooseTraces(end(), {
  kindOf: (step, s) => [step, s.gateway, s.status, s.a_at, s.a_saw, s.b_at, s.b_saw].join(),
  // An activity gets the time and the payer's hint as its input, when it begins. Other parts play the rest.
  mayStep: (step, s) =>
    !/^(deliverWebhook|resolveLatePayment|healPayments)/.test(step) &&
    !(/^(deadline|grace|payer cancels)/.test(step) && isInFlight(s)) &&
    // `processing` is not modelled, and a payer of such a payment is not sent to the gateway.
    !(step === 'payer: sendToGateway' && s.due !== 'no'),
  random: { count: 100, length: 25, seed: 38 },
});

/** As many as a run of seconds allows; the nearest to a start come first. */
const carriedOut = traces.slice(0, 60);

describe('the end of a payment', () => {
  it('carries out traces of the model without a difference', async () => {
    const differences = [];
    for (const trace of carriedOut) {
      const difference = await driveEnd(records, trace);
      if (difference !== undefined) differences.push(difference);
    }
    console.log(`${carriedOut.length} of ${traces.length} traces`);
    expect(differences).toEqual([]);
  });
});
