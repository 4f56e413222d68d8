interface Payloads {
  payloads?: readonly { data?: string }[];
}

interface Attributes {
  workflowType?: { name: string };
  activityType?: { name: string };
  scheduledEventId?: string;
  attempt?: number;
  result?: Payloads;
  signalName?: string;
  acceptedRequest?: { input: { name: string } };
  continuedExecutionRunId?: string;
}

/** An event as Temporal writes it in JSON. */
export interface HistoryEvent {
  eventId: string;
  eventType: string;
}

/** One event a line, so that a changed history is a change of few lines. */
export const toText = (events: readonly object[]): string =>
  `{"events":[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]}\n`;

const kebab = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The word that an activity returned, e.g. `waiting` of `{ "kind": "waiting" }` or `open` of `{ "stage": "open" }`. */
const wordOf = (result: Payloads | undefined): string[] => {
  const data = result?.payloads?.[0]?.data;
  const value: unknown = data ? JSON.parse(Buffer.from(data, 'base64').toString()) : undefined;
  const { kind, stage } = Object(value) as { kind?: unknown; stage?: unknown };
  const word = kind ?? stage ?? value;
  return typeof word === 'string' ? [word] : [];
};

/** Events without commands, and those that follow from others. */
const happenings: Record<string, (attributes: Attributes) => string[]> = {
  WORKFLOW_EXECUTION_STARTED: ({ continuedExecutionRunId }) =>
    continuedExecutionRunId ? ['later-run'] : [],
  WORKFLOW_EXECUTION_SIGNALED: ({ signalName }) => [`signal-${signalName}`],
  WORKFLOW_EXECUTION_UPDATE_ACCEPTED: ({ acceptedRequest }) => [
    `update-${acceptedRequest?.input.name}`,
  ],
  WORKFLOW_EXECUTION_CANCEL_REQUESTED: () => ['cancel-request'],
  WORKFLOW_EXECUTION_CONTINUED_AS_NEW: () => ['continued'],
  WORKFLOW_EXECUTION_FAILED: () => ['failed'],
  START_CHILD_WORKFLOW_EXECUTION_INITIATED: () => ['child'],
  MARKER_RECORDED: () => ['marker'],
  TIMER_FIRED: () => ['timer'],
};

const attributesOf = (event: HistoryEvent): Attributes => {
  const found = Object.entries(event).find(([name]) => name.endsWith('EventAttributes'));
  return (found?.[1] ?? {}) as Attributes;
};

/** The type of the workflow. */
export const typeOf = ([started]: readonly HistoryEvent[]): string =>
  (started && attributesOf(started).workflowType?.name) ?? '';

/** The events of a history. Two with the same steps show the same. */
export const stepsOf = (events: readonly HistoryEvent[]): string[] => {
  const activities = new Map<string, string>();
  return events.flatMap((event): string[] => {
    const type = event.eventType.replace('EVENT_TYPE_', '');
    const attributes = attributesOf(event);
    const { scheduledEventId = '', attempt = 1, activityType, result } = attributes;
    if (activityType) activities.set(event.eventId, kebab(activityType.name));
    const activity = activities.get(scheduledEventId);
    const [, end] = /^ACTIVITY_TASK_(\w+)$/.exec(type) ?? [];
    if (activity === undefined || end === undefined) return happenings[type]?.(attributes) ?? [];
    if (end === 'STARTED' && attempt > 1) activities.set(scheduledEventId, `${activity}-again`);
    if (end === 'STARTED' || end === 'CANCEL_REQUESTED') return [];
    const how = end === 'COMPLETED' ? wordOf(result) : [end.toLowerCase().replace('_', '-')];
    return [[activity, ...how].join('-')];
  });
};
