/** The three activities of a payment under their names, without any work. */
export const activities = {
  async open() {},
  async verify() {},
  async deliver() {},
};
export type BareActivities = typeof activities;

/** The last activity has its own queue, like a payment's. */
export const deliveryQueueOf = (queue: string) => `${queue}-delivery`;
