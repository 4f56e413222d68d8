import { Refusal } from './change.ts';

/** A long operation ended before it was done. Its finished part stays done; the cause says why it ended. */
export class Incomplete<T> extends Error {
  readonly done: T;

  constructor(done: T, cause: unknown) {
    super('The operation ended before it was done', { cause });
    this.done = done;
  }
}

/** @param left the sentence about what was not done */
export const interrupted = <T>(done: T, left: string): Incomplete<T> =>
  new Incomplete(done, new Refusal(`Interrupted. ${left}`));
