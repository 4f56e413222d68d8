import type { Direction, Schema } from './breaking-schema.ts';
import { breaksOfSchema } from './breaking-schema.ts';

type Content = Record<string, { schema?: Schema }>;
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema?: Schema;
}
interface Header {
  $ref?: string;
  required?: boolean;
  schema?: Schema;
}
export interface Operation {
  operationId?: string;
  security?: object[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses?: Record<string, { headers?: Record<string, Header>; content?: Content }>;
}
/** As much of an OpenAPI document as is compared. */
export interface Contract {
  paths?: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema>; headers?: Record<string, Header> };
}

/** What an application built against `released` would stumble over in `current`, a line each. */
export const breakingChanges = (released: Contract, current: Contract): string[] => {
  const resolver = (contract: Contract) => (schema: Schema) =>
    schema.$ref ? (contract.components?.schemas?.[nameOf(schema.$ref)] ?? {}) : schema;
  const resolve = { released: resolver(released), current: resolver(current) };
  const headerOf = (contract: Contract, header: Header): Header =>
    header.$ref ? (contract.components?.headers?.[nameOf(header.$ref)] ?? {}) : header;

  const schemas = (
    was: Schema | undefined,
    now: Schema | undefined,
    where: string,
    direction: Direction,
  ) => breaksOfSchema({ released: was ?? {}, current: now ?? {}, where, direction }, resolve);

  const contents = (
    was: Content = {},
    now: Content = {},
    { where, direction }: { where: string; direction: Direction },
  ) =>
    both(was, now, where).flatMap(([type, before, after]) =>
      after ? schemas(before.schema, after.schema, where, direction) : [`${type}: is gone`],
    );

  const parameters = (was: Operation, now: Operation, where: string, direction: Direction) => {
    const keyed = ({ parameters: list = [] }: Operation) =>
      Object.fromEntries(list.map((one) => [`${one.in} ${one.name}`, one]));
    const before = keyed(was);
    return [
      ...both(before, keyed(now), where).flatMap(([name, one, other]) =>
        other
          ? [
              ...schemas(one.schema, other.schema, name, direction),
              ...(direction === 'input' && !one.required && other.required
                ? [`${name}: must be sent now`]
                : []),
            ]
          : [`${name}: is gone`],
      ),
      ...Object.entries(keyed(now))
        .filter(([name, one]) => direction === 'input' && one.required && !before[name])
        .map(([name]) => `${where} ${name}: must be sent now`),
    ];
  };

  const answers = (was: Operation, now: Operation, where: string) =>
    both(was.responses ?? {}, now.responses ?? {}, where).flatMap(([status, before, after]) => {
      if (!after) return [`${status}: is gone`];
      const headers = both(before.headers ?? {}, after.headers ?? {}, status).flatMap(
        ([name, one, other]) => {
          if (!other) return [`${name}: is gone`];
          const [first, second] = [headerOf(released, one), headerOf(current, other)];
          return [
            ...schemas(first.schema, second.schema, name, 'output'),
            ...(first.required && !second.required ? [`${name}: may be missing now`] : []),
          ];
        },
      );
      return [
        ...headers,
        ...contents(before.content, after.content, { where: status, direction: 'output' }),
      ];
    });

  const operation = (was: Operation, now: Operation, where: string, direction: Direction) => [
    ...(was.operationId === now.operationId ? [] : [`${where}: has another operationId`]),
    ...(!was.security?.length && now.security?.length ? [`${where}: needs a token now`] : []),
    ...(now.requestBody?.required && !was.requestBody?.required
      ? [`${where}: needs a body now`]
      : []),
    ...parameters(was, now, where, direction),
    ...contents(was.requestBody?.content, now.requestBody?.content, {
      where: `${where} body`,
      direction,
    }),
    ...(direction === 'input' ? answers(was, now, where) : []),
  ];

  // What we post to applications is an answer in all but name.
  return (['paths', 'webhooks'] as const).flatMap((part) =>
    both(released[part] ?? {}, current[part] ?? {}, '').flatMap(([path, before, after]) =>
      after
        ? both(before, after, path).flatMap(([where, one, other]) =>
            other
              ? operation(one, other, where, part === 'paths' ? 'input' : 'output')
              : [`${where}: is gone`],
          )
        : [`${path}: is gone`],
    ),
  );
};

const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** The released members, each with its place and what it is now. */
const both = <T>(was: Record<string, T>, now: Record<string, T>, where: string) =>
  Object.entries(was).map(
    ([name, before]) => [`${where} ${name}`.trim(), before, now[name]] as const,
  );
