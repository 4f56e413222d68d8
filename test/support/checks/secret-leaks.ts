import proto from '@temporalio/proto';
import type { Service } from '../service/service.ts';

const { History } = proto.temporal.api.history.v1;

/** A secret in a place that must not hold it. `what` is its name, not its text. */
export interface Leak {
  what: string;
  where: string;
  excerpt: string;
}

export interface Place {
  where: string;
  text: string;
}

const isCardNumber = (digits: string): boolean => {
  const sum = [...digits].toReversed().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
};

/** Card numbers in the usual notations. The check digit excludes nine of ten other long numbers. */
const cardNumbersIn = (text: string): string[] =>
  [...text.matchAll(/(?<![\w.*-])\d{4}([ -]?)\d{4}\1\d{4}\1\d{4}(?![\w*-]|\.\d)/g)]
    .map(([found]) => found)
    .filter((found) => isCardNumber(found.replaceAll(/\D/g, '')));

/** The notations of a secret: plain, URL-encoded, base64 and hex. */
const encode = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('hex'),
];

/** Finds these secrets, and full card numbers, in the places. */
export const leaksIn = (
  places: readonly Place[],
  secrets: Readonly<Record<string, string>>,
): Leak[] => {
  const forbidden = Object.entries(secrets).map(
    ([what, secret]) => [what, [...new Set(encode(secret))]] as const,
  );
  return places.flatMap(({ where, text }) => {
    const found = forbidden.flatMap(([what, forms]) =>
      forms.filter((form) => text.includes(form)).map((form) => ({ what, form })),
    );
    const cards = cardNumbersIn(text).map((form) => ({ what: 'card number', form }));
    return [...found, ...cards].map(({ what, form }) => {
      const at = text.indexOf(form);
      return { what, where, excerpt: text.slice(Math.max(at - 80, 0), at) };
    });
  });
};

/** What the metrics ports of a service say. */
export const metricsOf = ({ metricsUrls }: Pick<Service, 'metricsUrls'>): Promise<Place[]> =>
  Promise.all(
    Object.entries(metricsUrls).map(async ([name, url]) => {
      const response = await fetch(`${url}/metrics`);
      return { where: `metrics of ${name}`, text: await response.text() };
    }),
  );

/** Every log line, history and column of a service. */
export const placesOf = async (service: Service): Promise<Place[]> => {
  const places: Place[] = [];
  for (const name of ['api', 'worker'] as const)
    for (const text of service[name].lines) places.push({ where: `log of ${name}`, text });
  for await (const { workflowId, runId } of service.client.workflow.list()) {
    const history = await service.client.workflow.getHandle(workflowId, runId).fetchHistory();
    // As bytes, because JSON has payloads in base64.
    const text = Buffer.from(History.encode(history).finish()).toString('latin1');
    places.push({ where: `history of ${workflowId}`, text });
  }
  const columns = await service.sql<{ table: string; column: string; type: string }[]>`
    select table_name as table, column_name as column, data_type as type
    from information_schema.columns where table_schema = 'public'`;
  for (const { table, column, type } of columns) {
    const value = service.sql(column);
    const text =
      type === 'bytea' ? service.sql`encode(${value}, 'escape')` : service.sql`${value}::text`;
    const rows = await service.sql<{ text: string }[]>`
      select ${text} as text from ${service.sql(table)} where ${value} is not null`;
    for (const row of rows) places.push({ where: `${table}.${column}`, text: row.text });
  }
  return places;
};
