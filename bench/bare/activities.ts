export interface PostInput {
  url: string;
  id: string;
  createdAt: string;
}

/** Nothing, three times, under the names of what a payment does. */
export const activities = {
  async open() {},
  async settle() {},
  async deliver() {},

  /** Tells a receiver, as a delivery does, and waits as long. */
  async post({ url, id, createdAt }: PostInput) {
    const body = JSON.stringify({ payment_id: id, created_at: createdAt, status: 'paid' });
    const signal = AbortSignal.timeout(10_000);
    await fetch(url, { method: 'POST', body, signal });
  },
};
export type BareActivities = typeof activities;
