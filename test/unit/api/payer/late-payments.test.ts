import { expect, it } from 'vitest';
import { createSearchLate } from '../../../../api/payer/late-payments.ts';

/** A search for the late money of one payment, with what the claim and the budget answer. */
const aSearch = (script: {
  claimed: Date | undefined;
  waitMs?: number | undefined;
  fails?: boolean;
}) => {
  const { claimed, waitMs, fails } = { waitMs: 0, fails: false, ...script };
  const begun: { askAt: number | undefined; withinMs: number | undefined }[] = [];
  const seen = { taken: 0, claimed: 0, released: 0, warnings: 0 };
  const search = createSearchLate({
    payments: {
      async claimLateSearch() {
        seen.claimed += 1;
        return claimed;
      },
      unclaimLateSearch: async () => void (seen.released += 1),
    },
    async recheckLatePayment(_, { askAt, withinMs } = {}) {
      if (fails) throw new Error('Temporal is away');
      begun.push({ askAt, withinMs });
    },
    budget: {
      take() {
        seen.taken += 1;
        return waitMs;
      },
      giveBack: () => void (seen.taken -= 1),
    },
    logger: { warn: () => void (seen.warnings += 1) },
  });
  return { search: () => search({ id: 'PAY_1', gateway: 'stripe' }, 8_000), begun, seen };
};

it('asks the gateway at the claimed time, and keeps the claim', async () => {
  const claimed = new Date(Date.now() + 60_000);
  const { search, begun, seen } = aSearch({ claimed, waitMs: 10 });
  await search();
  expect(begun).toEqual([{ askAt: claimed.getTime(), withinMs: 7_990 }]);
  expect(seen).toEqual({ taken: 1, claimed: 1, released: 0, warnings: 0 });
});

it('takes nothing from the budget if a claimed search is still to come', async () => {
  const { search, begun, seen } = aSearch({ claimed: undefined });
  await search();
  expect(begun).toEqual([]);
  expect(seen).toEqual({ taken: 0, claimed: 1, released: 0, warnings: 0 });
});

it('claims nothing beyond the budget of the gateway', async () => {
  const { search, begun, seen } = aSearch({ claimed: new Date(), waitMs: undefined });
  await search();
  expect(begun).toEqual([]);
  expect(seen).toEqual({ taken: 1, claimed: 0, released: 0, warnings: 0 });
});

it('does not throw when Temporal is away, and releases the claim', async () => {
  const { search, seen } = aSearch({ claimed: new Date(), fails: true });
  await search();
  expect(seen).toEqual({ taken: 1, claimed: 1, released: 1, warnings: 1 });
});
