import type { GatewayAdapter } from './gateway.ts';
import type { Deps as SandboxDeps } from './sandbox.ts';
import { createSandboxGateway } from './sandbox.ts';

/** The adapter of a driver. @throws Error for a driver this version does not know. */
export const createGatewayRegistry = (deps: SandboxDeps) => {
  const adapters = new Map<string, GatewayAdapter>([['sandbox', createSandboxGateway(deps)]]);
  return (driver: string): GatewayAdapter => {
    const adapter = adapters.get(driver);
    if (!adapter) throw new Error(`There is no gateway driver named ${driver}`);
    return adapter;
  };
};
export type GatewayRegistry = ReturnType<typeof createGatewayRegistry>;
