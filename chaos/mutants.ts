import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../process.ts';

interface Change {
  file: string;
  /** There exactly once. */
  from: string;
  to: string;
}

const paymentOutcomes = 'postgres/paymentOutcomes.ts';

/** Faults that a run must find: each takes away what keeps outcomes from being lost or doubled. */
const mutants: Readonly<Record<string, readonly Change[]>> = {
  /** Whoever asks the gateway asks by himself, and the last answer stands. */
  'no-compare-and-set': [
    { file: 'workflows/verification.ts', from: 'current = { answer,', to: 'void { answer,' },
    {
      file: paymentOutcomes,
      from: "where id = ${ended.id} and status in ('pending', 'processing')",
      to: 'where id = ${ended.id}',
    },
    // The primary keys are the other half of the compare-and-set.
    {
      file: paymentOutcomes,
      from: 'from ended\n        returning payment_id, created_at',
      to: `from ended
        on conflict (payment_id) do update set kind = excluded.kind, body = excluded.body
        returning payment_id, created_at`,
    },
    {
      file: paymentOutcomes,
      from: 'join applications a on a.slug = ended.application`',
      to: `join applications a on a.slug = ended.application
      on conflict (payment_id) do update set status = deliveries.status\``,
    },
  ],
  /** The outcome is committed, and 200 ms later its event. */
  'event-outside': [
    {
      file: paymentOutcomes,
      from: '), event as (\n        insert into events',
      to: `)
      select id from ended\`;
    if (count !== 1) return false;
    await new Promise((resolve) => setTimeout(resolve, 200));
    await sql\`
      with ended as (
        select id, application from payments where id = \${ended.id}
      ), event as (
        insert into events`,
    },
  ],
};

export const mutantNames: readonly string[] = Object.keys(mutants);

/** What no process of the service needs; what a stack keeps would be much. */
const leftOut = ['.git', '.data', 'node_modules'];

/** A copy of the checkout with the fault in it. @returns its folder @throws SetupError */
export const mutate = (
  name: string,
  { checkout, folder }: { checkout: string; folder: string },
): string => {
  const copy = join(folder, name);
  mkdirSync(copy, { recursive: true });
  for (const part of readdirSync(checkout))
    if (!leftOut.includes(part))
      cpSync(join(checkout, part), join(copy, part), { recursive: true });
  symlinkSync(join(checkout, 'node_modules'), join(copy, 'node_modules'));
  for (const change of mutants[name] ?? []) apply(copy, change);
  return copy;
};

const apply = (root: string, { file, from, to }: Change) => {
  const path = join(root, file);
  const text = readFileSync(path, 'utf8');
  if (text.split(from).length !== 2)
    throw new SetupError(`${file} has changed: say anew in chaos/mutants.ts what to change there`);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
};
