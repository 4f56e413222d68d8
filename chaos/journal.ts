export interface Note {
  /** Milliseconds since 1970. */
  at: number;
  text: string;
}

/** That somebody was told that a payment has a status. */
export interface Showing {
  at: number;
  status: string;
  where: string;
}

/** What the world around the service did and was told, by order. */
export const createJournal = () => {
  const notes = new Map<string, Note[]>();
  const shown = new Map<string, Showing[]>();
  const answers = new Map<string, number>();
  const problems: { order: string; text: string }[] = [];
  const addTo = <T>(map: Map<string, T[]>, order: string, item: T) => {
    const list = map.get(order);
    if (list) list.push(item);
    else map.set(order, [item]);
  };
  return {
    note: (order: string, text: string) => addTo(notes, order, { at: Date.now(), text }),
    show: (order: string, status: string, where: string) =>
      addTo(shown, order, { at: Date.now(), status, where }),
    /** An answer of the service, or why there was none. */
    count: (answer: string) => answers.set(answer, (answers.get(answer) ?? 0) + 1),
    /** Wrong by itself, whatever else happens. */
    problem: (order: string, text: string) => problems.push({ order, text }),
    notesOf: (order: string): readonly Note[] => notes.get(order) ?? [],
    shownOf: (order: string): readonly Showing[] => shown.get(order) ?? [],
    answers: (): ReadonlyMap<string, number> => answers,
    problems: (): readonly { order: string; text: string }[] => problems,
  };
};
export type Journal = ReturnType<typeof createJournal>;
