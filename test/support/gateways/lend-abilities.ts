import { onTestFinished } from 'vitest';
import type { Driver } from '../../../gateways/gateway.ts';
import { findDriver } from '../../../gateways/registry.ts';

/** Gives the driver what it does not have, until the test ends. Other processes do not see it. */
export const lendAbilities = (name: string, abilities: Partial<Driver>): void => {
  const driver = findDriver(name);
  if (!driver) throw new Error(`There is no driver ${name}`);
  const own = { ...driver };
  Object.assign(driver, abilities);
  onTestFinished(() => {
    for (const key of Object.keys(abilities))
      if (!(key in own)) Reflect.deleteProperty(driver, key);
    Object.assign(driver, own);
  });
};
