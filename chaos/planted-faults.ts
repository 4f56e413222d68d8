import type { Sql } from '../postgres/driver/sql.ts';

const onEach = (
  write: 'insert' | 'update',
  { table, name, change }: { table: 'applications' | 'payments'; name: string; change: string },
): string => `
    create function ${name}() returns trigger language plpgsql as $$
    begin
      ${change}
      return new;
    end $$;
    create trigger ${name} before ${write} on ${table}
      for each row execute function ${name}();`;

const onEachUpdate = (table: 'applications' | 'payments', name: string, change: string): string =>
  onEach('update', { table, name, change });

/**
 * Faults that a run must find. Triggers in the database plant them, so that they need no change of the
 * service and do not depend on its source.
 */
const faults = {
  /** One payment in ten ends without its event. */
  'lost-event': `
    create function lose_event() returns trigger language plpgsql as $$
    begin
      return case when random() < 0.1 then null else new end;
    end $$;
    create trigger lose_event before insert on events for each row execute function lose_event();`,
  /** One payment in ten shows another tracking code than its event and its gateway. */
  'wrong-receipt': onEachUpdate(
    'payments',
    'change_receipt',
    "if new.tracking_code is not null and random() < 0.1 then new.tracking_code := 'wrong'; end if;",
  ),
  /** No payment claims its order, and no index holds it. */
  'order-unclaimed': `
    drop index payments__order;
    ${onEachUpdate('payments', 'forget_claim', 'new.order_claimed_at := null;')}`,
  /** The service does not know that orders are paid once. */
  'order-paid-twice': `
    ${onEachUpdate('applications', 'forget_option', 'new.orders_paid_once := false;')}
    update applications set orders_paid_once = true;`,
  /** A payment that another gateway has opened stays at its first one. */
  'gateway-unswitched': onEachUpdate(
    'payments',
    'forget_gateway',
    'if old.gateway_reference is null then new.gateway := old.gateway; end if;',
  ),
  /** Only the first gateway is asked. */
  'no-fallback': onEach('insert', {
    table: 'payments',
    name: 'forget_candidates',
    change: 'new.candidates := null;',
  }),
} as const;

export type PlantedFault = keyof typeof faults;
export const plantedFaults = Object.keys(faults) as PlantedFault[];

export const plantFault = async (sql: Sql, fault: PlantedFault): Promise<void> => {
  await sql.unsafe(faults[fault]).simple();
};
