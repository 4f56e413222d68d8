import { CancellationScope, condition } from '@temporalio/workflow';

/** Makes a call, and cancels it as soon as the condition is met. An activity says by its options what a cancel does. */
export const cancelWhen = async <T>(isMet: () => boolean, call: () => Promise<T>): Promise<T> => {
  const scope = new CancellationScope();
  return scope.run(async () => {
    const result = call();
    await Promise.race([result, condition(isMet)]);
    // It also ends the wait for the condition. A call that is over stays as it is.
    scope.cancel();
    return result;
  });
};
