import { setCurrentDetails } from '@temporalio/workflow';

/** Says where a part of the workflow stands. */
export type Say = (part: string, text: string) => void;

/** Current details of the Temporal UI, one line for each part. They add nothing to the history. */
export const createDetails = (): Say => {
  const lines = new Map<string, string>();
  return (part, text) => {
    lines.set(part, `**${part}:** ${text}`);
    // Markdown joins lines without an empty one between them.
    setCurrentDetails([...lines.values()].join('\n\n'));
  };
};
