import { fileURLToPath } from 'node:url';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const pathOf = (file: string) => fileURLToPath(new URL(`../workflows/${file}`, import.meta.url));

/** The workflows with what stands around them, as workers load them. */
export const buildBundle = (): Promise<WorkflowBundleWithSourceMap> =>
  bundleWorkflowCode({
    workflowsPath: pathOf('index.ts'),
    workflowInterceptorModules: [pathOf('trace.ts')],
    // Loaded once and shared, and not once for each workflow: none of our modules keeps anything.
    preloadModules: [pathOf('index.ts'), pathOf('trace.ts')],
    logger: new DefaultLogger('WARN'),
  });
