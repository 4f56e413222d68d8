export interface Note {
  /** Milliseconds since 1970. */
  at: number;
  text: string;
}

/** A status that the service reported to the application or to the payer. */
export interface ReportedStatus {
  at: number;
  status: string;
  /** E.g. `verify` or `return`. */
  where: string;
}

export interface Problem {
  order: string;
  text: string;
}

/** Everything that the callers did and saw, by order. */
export const createJournal = () => {
  const notes = new Map<string, Note[]>();
  const statuses = new Map<string, ReportedStatus[]>();
  const responses = new Map<string, number>();
  const refunds = new Map<string, string[]>();
  const problems: Problem[] = [];
  const addTo = <T>(map: Map<string, T[]>, order: string, item: T) => {
    const list = map.get(order);
    if (list) list.push(item);
    else map.set(order, [item]);
  };
  return {
    note: (order: string, text: string) => addTo(notes, order, { at: Date.now(), text }),
    recordStatus: (order: string, status: string, where: string) =>
      addTo(statuses, order, { at: Date.now(), status, where }),
    /** A refund that the service has accepted. */
    recordRefund: (order: string, id: string) => addTo(refunds, order, id),
    refundsFor: (order: string): readonly string[] => refunds.get(order) ?? [],
    /** Counts a response of the service, or the lack of one. */
    count: (response: string) => responses.set(response, (responses.get(response) ?? 0) + 1),
    /** Adds what is wrong by itself, whatever else happens. */
    addProblem: (order: string, text: string) => problems.push({ order, text }),
    notesFor: (order: string): readonly Note[] => notes.get(order) ?? [],
    statusesFor: (order: string): readonly ReportedStatus[] => statuses.get(order) ?? [],
    responses: (): ReadonlyMap<string, number> => responses,
    problems: (): readonly Problem[] => problems,
  };
};
export type Journal = ReturnType<typeof createJournal>;
