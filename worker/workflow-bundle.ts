import { fileURLToPath } from 'node:url';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const pathOf = (file: string) => fileURLToPath(new URL(`../workflows/${file}`, import.meta.url));

/** @param workflowsPath the file that exports the workflows */
export const buildBundle = (
  workflowsPath: string = pathOf('index.ts'),
): Promise<WorkflowBundleWithSourceMap> =>
  bundleWorkflowCode({
    workflowsPath,
    workflowInterceptorModules: [pathOf('trace.ts')],
    // Loaded once and shared by all workflows, because none of our modules has a state.
    preloadModules: [workflowsPath, pathOf('trace.ts')],
    logger: new DefaultLogger('WARN'),
  });
