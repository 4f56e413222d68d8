import type { Figure } from './figure.ts';

const columns = ['', 'value', '', 'ceiling', 'ratio', 'must be', ''] as const;

const digits = (value: number | null): string => {
  if (value === null) return '';
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);
};

const cellsOf = ({ name, value, unit, ceiling, ratio, must, holds }: Figure): string[] => [
  name,
  digits(value),
  unit,
  digits(ceiling),
  digits(ratio),
  must ?? '',
  holds === null ? '' : holds ? 'holds' : 'DOES NOT HOLD',
];

const isNumber = (column: number) => column === 1 || column === 3 || column === 4;

/** The figures as text in columns. */
export const tableOf = (figures: readonly Figure[]): string => {
  const rows = [[...columns], ...figures.map(cellsOf)];
  const widths = columns.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return isNumber(column) ? cell.padStart(width) : cell.padEnd(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};
