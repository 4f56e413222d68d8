/** Nothing, three times, under the names of what a payment does. */
export const activities = {
  async open() {},
  async settle() {},
  async deliver() {},
};
export type BareActivities = typeof activities;
