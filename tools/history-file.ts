interface Payloads {
  payloads?: readonly { data?: string }[];
}

interface Attributes {
  input?: Payloads;
  failure?: { applicationFailureInfo?: { type?: string } };
  workflowType?: { name: string };
  activityType?: { name: string };
  scheduledEventId?: string;
  startedEventId?: string;
  initiatedEventId?: string;
  acceptedEventId?: string;
  attempt?: number;
  result?: Payloads;
  details?: { 'patch-data'?: Payloads };
  signalName?: string;
  acceptedRequest?: { input: { name: string; args?: Payloads } };
  continuedExecutionRunId?: string;
}

/** An event as Temporal writes it in JSON. */
export interface HistoryEvent {
  eventId: string;
  eventType: string;
  userMetadata?: { summary?: { data?: string } };
}

/** One event a line, so that a changed history is a change of few lines. */
export const toText = (events: readonly object[]): string =>
  `{"events":[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]}\n`;

export const kebab = (name: string): string =>
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

/** Whether the workflow was open when its history was saved. */
export const isOpen = (events: readonly HistoryEvent[]): boolean =>
  !/WORKFLOW_EXECUTION_(COMPLETED|FAILED|CONTINUED_AS_NEW|TIMED_OUT|CANCELED|TERMINATED)$/.test(
    events.at(-1)?.eventType ?? '',
  );

/** The things that a workflow can wait for, by their first event. Timers of one place have the same summary. */
const waits: Record<string, (attributes: Attributes, event: HistoryEvent) => string> = {
  ACTIVITY_TASK_SCHEDULED: ({ activityType }) => `activity ${activityType?.name}`,
  START_CHILD_WORKFLOW_EXECUTION_INITIATED: ({ workflowType }) => `child ${workflowType?.name}`,
  WORKFLOW_EXECUTION_UPDATE_ACCEPTED: ({ acceptedRequest }) =>
    `update ${acceptedRequest?.input.name}`,
  TIMER_STARTED: (_, { userMetadata }) =>
    `timer ${Buffer.from(userMetadata?.summary?.data ?? '', 'base64').toString()}`,
};

/** What a workflow has waited for, and what it still waits for at the end of its history. */
export const waitsOf = (events: readonly HistoryEvent[]) => {
  const begun = new Map<string, string>();
  const pending = new Map<string, string>();
  for (const event of events) {
    const type = event.eventType.replace('EVENT_TYPE_', '');
    const attributes = attributesOf(event);
    const wait = waits[type]?.(attributes, event);
    if (wait !== undefined) for (const each of [begun, pending]) each.set(event.eventId, wait);
    if (/_(STARTED|REQUESTED)$/.test(type)) continue;
    const { scheduledEventId, startedEventId, initiatedEventId, acceptedEventId } = attributes;
    for (const id of [scheduledEventId, startedEventId, initiatedEventId, acceptedEventId])
      if (id !== undefined) pending.delete(id);
  }
  return { begun: [...begun.values()], pending: [...pending.values()] };
};

const jsonOf = (payloads: Payloads | undefined): string[] =>
  (payloads?.payloads ?? []).map(({ data }) =>
    data ? Buffer.from(data, 'base64').toString() : 'undefined',
  );

/** The ids of the changes whose new way a workflow has taken. */
export const patchesOf = (events: readonly HistoryEvent[]): string[] =>
  events.flatMap((event) =>
    jsonOf(attributesOf(event).details?.['patch-data']).map(
      (data) => (JSON.parse(data) as { id: string }).id,
    ),
  );

/** The inputs and results in a history, as JSON with the names of their types. */
export const payloadsOf = (events: readonly HistoryEvent[]): { value: string; type: string }[] => {
  const workflow = `Workflows['${typeOf(events)}']`;
  const names = new Map(
    events.map((event) => [event.eventId, attributesOf(event).activityType?.name]),
  );
  return events.flatMap((event) => {
    const attributes = attributesOf(event);
    const {
      input,
      result,
      signalName,
      acceptedRequest,
      failure,
      scheduledEventId = '',
    } = attributes;
    const args = (type: string, payloads = input) => [
      { value: `[${jsonOf(payloads).join()}]`, type },
    ];
    const returned = (type: string) => [
      { value: jsonOf(result)[0] ?? 'undefined', type: `Awaited<ReturnType<${type}>>` },
    ];
    const activity = (id: string) => `Activities['${names.get(id)}']`;
    switch (event.eventType.replace('EVENT_TYPE_', '')) {
      case 'WORKFLOW_EXECUTION_STARTED':
      case 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW':
        return args(`Parameters<${workflow}>`);
      case 'WORKFLOW_EXECUTION_COMPLETED':
        return returned(workflow);
      case 'WORKFLOW_EXECUTION_SIGNALED':
        return args(`Signals['${signalName}']`);
      case 'WORKFLOW_EXECUTION_UPDATE_ACCEPTED': {
        const { name, args: given } = acceptedRequest?.input ?? {};
        return args(`Updates['${name}']`, given);
      }
      case 'ACTIVITY_TASK_SCHEDULED':
        return args(`Parameters<${activity(event.eventId)}>`);
      case 'ACTIVITY_TASK_COMPLETED':
        return returned(activity(scheduledEventId));
      case 'ACTIVITY_TASK_FAILED':
        return [{ value: `'${failure?.applicationFailureInfo?.type}'`, type: 'FailureType' }];
      default:
        return [];
    }
  });
};
