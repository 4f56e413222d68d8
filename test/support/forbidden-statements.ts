export const databaseRoles = ['api', 'worker', 'admin', 'retention'] as const;
export type DatabaseRole = (typeof databaseRoles)[number];

const outcome = ['status', 'paid_at', 'failure_code', 'tracking_code', 'card_pan_masked'];
const writtenByCreate = [
  'amount',
  'currency',
  'application',
  'order_id',
  'callback_url',
  'metadata',
  'test',
];
const updates = (table: string, columns: readonly string[]) =>
  columns.map((column) => `update ${table} set ${column} = ${column}`);
const anyChange = (table: string, column: string) => [
  `insert into ${table} default values`,
  `update ${table} set ${column} = ${column}`,
  `delete from ${table}`,
];
const auditLogChanges = [
  'update audit_log set actor = actor',
  'delete from audit_log',
  'truncate audit_log',
  'alter table audit_log disable trigger all',
  'drop trigger audit_log__append_only on audit_log',
  'insert into audit_log (actor, action, subject, at) values ($$a$$, $$b$$, $$c$$, $$2020-01-01$$)',
  'insert into audit_log (actor, action, subject, id) overriding system value values ($$a$$, $$b$$, $$c$$, 0)',
];

const forbiddenByRole: Record<DatabaseRole, readonly string[]> = {
  api: [
    ...updates('payments', [
      ...outcome,
      ...writtenByCreate,
      'gateway_reference',
      'expires_at',
      'updated_at',
    ]),
    ...outcome
      .slice(1)
      .map((column) => `insert into payments (id, ${column}) values ('PAY_1', null)`),
    'delete from payments',
    'select credentials from gateways',
    'select * from gateways',
    ...anyChange('events', 'body'),
    ...anyChange('deliveries', 'status'),
    ...anyChange('attempts', 'number'),
    ...anyChange('late_payments', 'result'),
    'insert into audit_log (actor, action, subject) values (current_user, $$a$$, $$b$$)',
    'select from webhook_secrets',
    'select error from attempts',
    ...updates('replays', ['status', 'begun', 'refused', 'application']),
    ...updates('webhook_tests', ['sent', 'response_body', 'application']),
    'insert into webhook_tests (sent) values ($$forged$$)',
    'select from audit_log',
    ...updates('tokens', ['hash', 'mode', 'revoked_at', 'expires_at', 'application']),
    'insert into tokens default values',
    ...updates('applications', ['status', 'webhook_url', 'requests_per_minute']),
    ...updates('gateways', ['credentials', 'enabled']),
    'insert into sandbox_payments default values',
    'select from migrations',
  ],
  worker: [
    ...updates('payments', [
      ...writtenByCreate,
      'id',
      'gateway',
      'expires_at',
      'created_at',
      'checkout_at',
    ]),
    'insert into payments default values',
    'delete from payments',
    ...updates('events', ['id', 'kind', 'body', 'created_at']),
    ...['events', 'deliveries', 'attempts', 'late_payments'].map((table) => `delete from ${table}`),
    'select from tokens',
    'select from audit_log',
    'insert into audit_log (actor, action, subject) values ($$ada$$, $$a$$, $$b$$)',
    ...updates('applications', ['status', 'webhook_url']),
    ...updates('gateways', ['credentials', 'enabled']),
    ...updates('webhook_secrets', ['ciphertext', 'retires_at']),
    'insert into webhook_secrets (application) values ($$shop$$)',
  ],
  admin: [
    ...updates('payments', [...outcome, ...writtenByCreate, 'checkout_at', 'healed_at']),
    'insert into payments default values',
    ...[
      'payments',
      'events',
      'deliveries',
      'attempts',
      'late_payments',
      'tokens',
      'applications',
    ].map((table) => `delete from ${table}`),
    'insert into events default values',
    'insert into deliveries default values',
    ...updates('events', ['body']),
    ...updates('attempts', ['number', 'response_status']),
    ...updates('tokens', ['hash', 'mode']),
    ...updates('late_payments', ['result']),
  ],
  retention: [
    ...updates('payments', [...outcome, ...writtenByCreate]),
    'insert into payments default values',
    'insert into events default values',
    ...updates('events', ['body']),
    ...updates('deliveries', ['status']),
    ...updates('attempts', ['response_status', 'number']),
    'select from tokens',
    'select from webhook_secrets',
    'select from gateways',
  ],
};

/** Statements that Postgres must reject even if an attacker controls a process of the role. */
export const forbiddenTo = (role: DatabaseRole): readonly string[] => [
  ...forbiddenByRole[role],
  ...auditLogChanges,
  'truncate payments cascade',
  'create table mine ()',
  'set role postgres',
];

/** The tables that each role writes, and those that it cannot read. An additional grant fails the test. */
export const tablesOf: Record<DatabaseRole, Record<string, readonly string[]>> = {
  api: {
    insert: [
      'idempotency_keys',
      'payments',
      'replays',
      'request_counts',
      'sandbox_plans',
      'webhook_tests',
      'workflow_outbox',
    ],
    update: [
      'idempotency_keys',
      'payments',
      'replays',
      'request_counts',
      'sandbox_payments',
      'sandbox_plans',
      'tokens',
    ],
    delete: ['sandbox_plans', 'webhook_tests', 'workflow_outbox'],
    unread: ['audit_log', 'gateway_exchanges', 'late_payments', 'migrations', 'webhook_secrets'],
  },
  worker: {
    insert: [
      'attempts',
      'audit_log',
      'deliveries',
      'events',
      'gateway_exchanges',
      'late_payments',
      'sandbox_payments',
    ],
    update: [
      'attempts',
      'deliveries',
      'late_payments',
      'payments',
      'replays',
      'sandbox_payments',
      'webhook_tests',
    ],
    delete: ['gateway_exchanges', 'idempotency_keys', 'workflow_outbox'],
    unread: ['audit_log', 'migrations', 'request_counts', 'sandbox_plans', 'tokens'],
  },
  admin: {
    insert: ['applications', 'audit_log', 'gateways', 'tokens', 'webhook_secrets'],
    update: ['applications', 'deliveries', 'gateways', 'tokens', 'webhook_secrets'],
    unread: [
      'idempotency_keys',
      'migrations',
      'replays',
      'request_counts',
      'sandbox_payments',
      'sandbox_plans',
      'webhook_tests',
    ],
  },
  retention: {
    insert: ['audit_log'],
    update: ['attempts'],
    delete: [
      'attempts',
      'deliveries',
      'events',
      'late_payments',
      'payments',
      'replays',
      'sandbox_payments',
      'webhook_tests',
      'workflow_outbox',
    ],
    unread: [
      'applications',
      'audit_log',
      'gateway_exchanges',
      'gateways',
      'idempotency_keys',
      'migrations',
      'request_counts',
      'sandbox_plans',
      'tokens',
      'webhook_secrets',
    ],
  },
};
