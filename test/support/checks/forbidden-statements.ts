export const databaseRoles = [
  'api',
  'worker',
  'webhooks',
  'admin',
  'retention',
  'console',
] as const;
export type DatabaseRole = (typeof databaseRoles)[number];

const recordOf = (actor: string, via: string) =>
  `insert into audit_log (actor, action, subject, via) values ($$${actor}$$, $$a$$, $$b$$, $$${via}$$)`;

const auditLogChanges = [
  'update audit_log set actor = actor',
  'delete from audit_log',
  'truncate audit_log',
  'alter table audit_log disable trigger all',
  'drop trigger audit_log__append_only on audit_log',
  'insert into audit_log (actor, action, subject, at) values ($$a$$, $$b$$, $$c$$, $$2020-01-01$$)',
  'insert into audit_log (actor, action, subject, id) overriding system value values ($$a$$, $$b$$, $$c$$, 0)',
  'insert into audit_log (actor, action, subject, hash) values ($$a$$, $$b$$, $$c$$, $$$$)',
  'select from audit_chain for update',
  'update audit_log set reason = $$another$$',
  'delete from audit_reasons',
  'update audit_reasons set hash = hash',
];

/** Rules that rights of tables and columns do not say. */
const forbiddenByRole: Record<DatabaseRole, readonly string[]> = {
  api: ['select reserve_refund()'],
  worker: [
    'select from payment_to_refund($$PAY_1$$)',
    'insert into audit_log (actor, action, subject) values ($$ada$$, $$a$$, $$b$$)',
  ],
  webhooks: [],
  admin: [recordOf('ada', 'console')],
  retention: [recordOf('ada', 'console')],
  console: [
    'insert into audit_log (actor, action, subject) values ($$ada$$, $$a$$, $$b$$)',
    recordOf('ada', 'cli'),
    recordOf('service', 'console'),
    'insert into console_people (name, role) values ($$second$$, $$admin$$)',
    'update console_people set role = $$admin$$',
    `do $do$ begin
      insert into console_links (hash, name) select $$x$$::bytea, name from console_people where role = 'admin' limit 1;
      if not found then raise insufficient_privilege; end if;
    end $do$`,
    'update approvals set above = 1',
    'insert into refund_rule_requests (currency, amount, asked_by) values ($$EUR$$, 1, $$ada$$)',
    'select set_refund_rule(null, $$EUR$$, null)',
    'select ask_refund_rule(null, $$EUR$$, null, $$invented$$)',
  ],
};

/** Statements that Postgres must reject even if an attacker controls a process of the role. */
export const forbiddenTo = (role: DatabaseRole): readonly string[] => [
  ...forbiddenByRole[role],
  ...auditLogChanges,
  'truncate payments cascade',
  `do $do$ begin
    create temp table mine (id text, payment_id text);
    create trigger mine after insert on mine for each row execute function record_movement('payment', 'at', '1');
  end $do$`,
  'create table mine ()',
  'set role postgres',
];
