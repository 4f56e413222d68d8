-- Least privilege: one role for each kind of process. Run it after every migration, as the owner of the
-- tables, whose password is in PGPASSFILE: everybody on the machine sees a program's arguments.
--   psql postgres://OWNER@HOST/DATABASE --set ON_ERROR_STOP=1 --file deploy/roles.sql
-- It can be repeated. Where the owner may not create roles (managed Postgres), whoever may creates the
-- four first: create role payments_api nologin; … The processes' logins are members of one each:
--   create role api_1 login password '…' in role payments_api;
begin;
-- Whoever waits for a table has all others wait behind him: rather gives up. Run it again then.
set local lock_timeout = '1500ms';

do $$
declare
  each text;
begin
  foreach each in array array['payments_api', 'payments_worker', 'payments_admin', 'payments_retention']
  loop
    if not exists (select from pg_roles where rolname = each) then
      execute format('create role %I nologin', each);
    end if;
    execute format('revoke all on all tables in schema public from %I', each);
    execute format('grant usage on schema public to %I', each);
  end loop;
end
$$;
revoke all on all tables in schema public from public;

-- The API writes payments down, and notes that a payer was sent to the gateway. It decides no outcome:
-- what an outcome is made of it can neither update nor insert, and of events it knows nothing.
grant select on applications, gateways, tokens, payments, workflow_outbox, idempotency_keys,
  request_counts, sandbox_payments to payments_api;
grant insert (id, application, test, order_id, status, amount, currency, gateway, description,
  callback_url, metadata, expires_at, created_at, updated_at) on payments to payments_api;
grant update (checkout_at) on payments to payments_api;
grant insert, delete on workflow_outbox to payments_api;
grant insert, update on idempotency_keys, request_counts to payments_api;
grant update (last_used_at) on tokens to payments_api;
-- The payer's choice on the sandbox gateway's own page.
grant update (state, refusal, tracking_code, card_pan_masked) on sandbox_payments to payments_api;

-- The worker decides outcomes. What was agreed when a payment was created it cannot change, nor an event.
grant select on applications, gateways, webhook_secrets, payments, workflow_outbox, idempotency_keys, events,
  deliveries, attempts, late_payments, sandbox_payments, gateway_exchanges to payments_worker;
grant update (status, gateway_reference, gateway_redirect, inquired_at, unanswered, tracking_code,
  card_pan_masked, paid_at, failure_code, gateway_code, gateway_message, healed_at, updated_at)
  on payments to payments_worker;
grant insert on events, deliveries, attempts, late_payments, sandbox_payments, gateway_exchanges
  to payments_worker;
grant update (status, round, next_attempt_at, exhausted_by_run, healed_at) on deliveries to payments_worker;
grant update (scheduled_at, started_at, completed_at, duration_ms, response_status, error_class,
  error, response_body, response_truncated) on attempts to payments_worker;
grant update (reversals, reversal_at, result, resolved_at) on late_payments to payments_worker;
grant update (return_url, state, verifications) on sandbox_payments to payments_worker;
-- Of the exchanges with gateways the last ones of a payment are kept.
grant delete on workflow_outbox, idempotency_keys, gateway_exchanges to payments_worker;

-- Admins change who may do what, and begin a delivery again. Payments they only read.
grant select on applications, gateways, tokens, webhook_secrets, payments, workflow_outbox, events, deliveries,
  attempts, late_payments, gateway_exchanges, audit_log to payments_admin;
grant insert on applications, gateways, tokens, webhook_secrets to payments_admin;
grant update (status, default_gateway, callback_urls, webhook_url, requests_per_minute)
  on applications to payments_admin;
grant update (enabled, credentials) on gateways to payments_admin;
grant update (revoked_at) on tokens to payments_admin;
grant update (ciphertext, retires_at) on webhook_secrets to payments_admin;
grant update (status, round, next_attempt_at, exhausted_by_run) on deliveries to payments_admin;

-- What is old is dropped by a role of its own (npm run admin -- purge), which changes nothing else.
grant select, delete on payments, workflow_outbox, events, deliveries, attempts, late_payments, sandbox_payments
  to payments_retention;
grant update (response_body) on attempts to payments_retention;

-- When something was written into the audit log, and after what, the table alone says.
grant insert (actor, action, subject, before, after, reason) on audit_log
  to payments_worker, payments_admin, payments_retention;
-- A worker writes in the service's name alone, never in a person's. The grants say the rest. What is there
-- is left as it is, for any change locks the table: a policy that is to be another gets another name.
do $$
begin
  if not (select relrowsecurity from pg_class where oid = 'audit_log'::regclass) then
    alter table audit_log enable row level security;
  end if;
  if not exists (select from pg_policy where polname = 'audit_log__granted') then
    create policy audit_log__granted on audit_log using (true);
  end if;
  if not exists (select from pg_policy where polname = 'audit_log__service') then
    create policy audit_log__service on audit_log as restrictive for insert to payments_worker
      with check (actor = 'service');
  end if;
end
$$;

commit;
