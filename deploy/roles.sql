-- Least privilege: one role for each kind of process. Run this file after every migration, as the owner of
-- the tables. Keep the password in PGPASSFILE, because other users of the machine can see a program's
-- arguments.
--   psql postgres://OWNER@HOST/DATABASE --set ON_ERROR_STOP=1 --file deploy/roles.sql
-- Running it again is harmless. If the owner may not create roles (managed Postgres), a role that may must
-- create the six first: create role payments_api nologin; … The logins of the processes are members of one
-- role each; a worker of both task queues of two, payments_worker and payments_webhooks:
--   create role api_1 login password '…' in role payments_api;
begin;
-- A lock that this file waits for blocks every query behind it, so it gives up early. Run it again then.
set local lock_timeout = '1500ms';

do $$
declare
  role_name text;
begin
  foreach role_name in array array['payments_api', 'payments_worker', 'payments_webhooks', 'payments_admin',
    'payments_retention', 'payments_console']
  loop
    if not exists (select from pg_roles where rolname = role_name) then
      execute format('create role %I nologin', role_name);
    end if;
    execute format('revoke all on all tables in schema public from %I', role_name);
    execute format('grant usage on schema public to %I', role_name);
    -- Each program asks at its start which version has made the schema.
    execute format('grant select on migrations, versions to %I', role_name);
  end loop;
end
$$;
revoke all on all tables in schema public from public;

-- The API creates payments and records that a payer was sent to the gateway. It decides no outcome: it can
-- neither insert nor update the columns of an outcome. It reads events and changes no delivery. It
-- reads the class of an attempt's error and not its text. It cannot read the credentials of gateways, only the
-- secrets that check their notifications.
grant select (slug, driver, kind, enabled, notification_secrets, has_credentials, has_refund_credentials, time_zone, silent_until) on gateways to payments_api;
grant select on applications, tokens, payments, refunds, workflow_outbox, idempotency_keys,
  request_counts, movements, disputes, sandbox_payments, events, deliveries to payments_api;
grant select (event_id, number, round, trigger, started_at, completed_at, duration_ms, response_status,
  error_class, response_body, response_truncated) on attempts to payments_api;
-- It makes links in the name of an application and disables them, admins in their own (see the policies below). A worker
-- says that one is paid or has expired, a trigger whether another admin must confirm it.
grant select, insert (id, application, test, order_id, amount, currency, description, locale, expires_at, requested_by,
  asked_by, asked_via, key_hash, fingerprint), update (status, disabled_at) on links to payments_api, payments_admin, payments_console;
-- The API records replays and webhook tests as requests: a workflow carries them out.
grant select on replays, webhook_tests to payments_api;
grant insert (id, application, test, delivery, from_at, to_at, matched), update (stop_requested) on replays
  to payments_api;
grant insert (id, application, kind, requested_at, traceparent), delete on webhook_tests to payments_api;
grant insert (id, application, test, order_id, status, amount, currency, gateway, candidates, description,
  callback_url, metadata, expires_at, created_at, updated_at, traceparent, payer_locale, link_id) on payments to payments_api;
-- It reads nothing of a payer again.
grant insert (payment_id, sealed) on payers to payments_api;
grant update (checkout_at, late_searches, late_search_at, cancel_request_reason, return_proof) on payments to payments_api;
-- It asks for refunds in the name of an application (see the policy below) and calls them off. A trigger reserves the
-- amount and counts it. It can neither end one nor say that the gateway was told.
grant insert (id, payment_id, application, test, order_id, status, stage, amount, currency, method, requested_by,
  reason, reference, metadata, fingerprint, token, created_at, updated_at, traceparent),
  update (cancel_requested, due_at) on refunds to payments_api;
-- A gateway reports a dispute: the sweeper asks what it is.
grant select, insert (payment_id, due_at), update (number, due_at) on dispute_looks to payments_api;
-- It tells a payer what became of money that came after the end.
grant select (payment_id, found_at, result, checked_at) on late_payments to payments_api;
grant select on refund_limits to payments_api;
grant select on receivers to payments_api;
-- People agree to notices, or end them, with the links in their mails.
grant select (hash, application, address) on notice_links to payments_api;
grant select on notice_addresses to payments_api;
grant execute on function agree_to_notices(text), end_notices(text) to payments_api;
grant insert, delete on workflow_outbox to payments_api;
grant insert, update on idempotency_keys, request_counts to payments_api;
grant select (id, application, test, at), insert (id, application, test, method, route, status, code, fields), delete
  on refused_requests to payments_api;
grant update (last_used_at) on tokens to payments_api;
-- The payer's choice on the sandbox gateway's own page.
grant update (state, refusal, tracking_code, card_pan_masked) on sandbox_payments to payments_api;
-- A test's plan says how its payer acts there.
grant insert (reference, payment_id, amount, currency, return_url, state, planned_state, acts_at, returns,
  pays_late, refusal, tracking_code, card_pan_masked, silent_until, lose_confirmation, dispute, dispute_seconds)
  on sandbox_payments to payments_api;
grant insert (reference, refund_id, payment_id, amount, outcome, failure_code, after_seconds)
  on sandbox_refunds to payments_api;

-- The worker of the queue `payments` decides outcomes. It can change neither the columns that a create wrote nor an
-- event, and reads no webhook secret.
grant select on applications, gateways, payments, refunds, workflow_outbox, idempotency_keys, events,
  deliveries, attempts, late_payments, sandbox_payments, sandbox_refunds, gateway_exchanges, replays, movements,
  gateway_entries, statement_lines, account_balances, account_differences, payouts, payout_lines, upkeep to payments_worker;
grant update (status, gateway, gateway_reference, gateway_redirect, report_key, checkout_at, payer_returns_at, inquired_at, uncertain, tracking_code,
  card_pan_masked, paid_at, failure_code, cancelled_by, cancellation_reason, gateway_code, gateway_message, reported_fee,
  reported_fee_paid_by, amount_refunded, amount_refund_pending, amount_disputed, amount_lost, order_claimed_at, paid_twice_at, healed_at,
  updated_at, link_ended_at) on payments to payments_worker;
grant insert (id, payment_id, application, test, order_id, status, amount, currency, method, requested_by, metadata,
  gateway_reference, bank_reference, succeeded_at, created_at, updated_at),
  update (status, stage, times_told, told_at, gateway_reference, bank_reference, failure_code, gateway_code,
  gateway_message, expected_at, succeeded_at, failed_at, updated_at, due_at, healed_at)
  on refunds to payments_worker;
-- It records what gateways tell of disputes.
grant select, insert, update (stage, status, amount, currency, reason, network_reason, respond_by, closed_at, changes,
  updated_at) on disputes to payments_worker;
grant select, insert (payment_id, due_at), update (number, due_at) on dispute_looks to payments_worker;
grant insert on events, deliveries, late_payments, sandbox_payments, gateway_exchanges, replay_results,
  feeds to payments_worker;
grant select, update (recorded_at) on feeds to payments_worker;
grant update (status, round, trigger, round_began_at, next_attempt_at, exhausted_by_run, healed_at, at_once)
  on deliveries to payments_worker;
grant update (status, begun, refused, position_at, position_id, ended_at) on replays to payments_worker;
grant update (reversals, reversal_at, result, resolved_at, amount, currency) on late_payments to payments_worker;
grant update (return_url, state, verifications, confirmations, verified_at, payer) on sandbox_payments to payments_worker;
grant insert, update (times_told, accepted_at) on sandbox_refunds to payments_worker;
-- It passes the data of payers on to gateways, and erases them.
grant select, delete on payers to payments_worker;
-- It compares days with the books of gateways. Payments and refunds become movements by triggers; of its own it can add
-- fees, chargebacks and payouts, to a day that is not closed. It closes a day that is over.
grant insert on movements, gateway_entries, statement_lines, account_balances, account_differences to payments_worker;
grant update, delete on statement_lines to payments_worker;
grant insert, update on payouts to payments_worker;
grant insert, update (payout) on payout_lines to payments_worker;
grant update (opening, net, reported) on account_balances to payments_worker;
grant select, insert (gateway, day, method, compared_at) on account_days to payments_worker;
grant update (method, compared_at, closed_at, hash, sums, movements) on account_days to payments_worker;
grant update (kind, name, source, at, amount, currency, fee, payment_id, refund_id, claimed_payment_id, tracking_code, read_at), delete on gateway_entries
  to payments_worker;
grant update (day, payment_id, refund_id, application, our_amount, our_currency, our_time, their_amount, their_currency,
  their_time, their_name, state, seen_at, changed_at, workflow_runs) on account_differences to payments_worker;
-- It ends links.
grant select, update (status, payment_id, paid_at) on links to payments_worker;
-- It asks a gateway that opens nothing after the others.
grant update (silent_until, silences) on gateways to payments_worker;
-- It renews the credentials for refunds that end.
grant update (refund_credentials) on gateways to payments_worker;
-- It claims what a gateway lets us use for one payment alone, and changes no claim.
grant select, insert (gateway, proof, payment_id) on gateway_proofs to payments_worker;
grant usage on sequence order_numbers to payments_worker;
-- It finds out how receivers are, and which notices of that are due. The worker of the other queue sends them.
grant select, insert, update (state, since), delete on receivers to payments_worker;
grant select (application, kind, state_since, address, created_at, next_try_at, result),
  insert (application, kind, state_since, address, created_at, next_try_at), delete on notices to payments_worker;
grant select on notice_addresses to payments_worker;
-- Only the last gateway exchanges of a payment are kept.
grant delete on workflow_outbox, idempotency_keys, gateway_exchanges to payments_worker;

-- The worker of the queue `webhooks` talks to servers of anybody's choice. It sends events and writes the ledger; it
-- reads no gateway and, of a payment, only what starts its workflow and its trace.
grant select on applications, webhook_secrets, events, deliveries, attempts, webhook_tests to payments_webhooks;
grant select (id, application, order_id, amount, currency, gateway, expires_at, traceparent) on payments
  to payments_webhooks;
grant select (id, traceparent) on refunds to payments_webhooks;
grant insert on attempts to payments_webhooks;
grant update (scheduled_at, started_at, completed_at, duration_ms, response_status, error_class,
  error, response_body, response_truncated) on attempts to payments_webhooks;
grant update (status, round, trigger, round_began_at, next_attempt_at, delivered_at, exhausted_by_run, error_class,
  failing_at, postponed_at, at_once) on deliveries to payments_webhooks;
grant update (sent, completed_at, duration_ms, response_status, error_class, response_body, response_truncated)
  on webhook_tests to payments_webhooks;
grant select on receivers, notices, notice_addresses to payments_webhooks;
grant select (sent_at), insert (hash, application, address), delete on notice_links to payments_webhooks;
grant update (next_try_at, tries, claimed_at, result) on notices to payments_webhooks;

-- Admins manage access and replay deliveries. They only read payments.
grant select on applications, gateways, tokens, webhook_secrets, payments, refunds, workflow_outbox, events, deliveries,
  attempts, late_payments, gateway_exchanges, audit_log, webhook_tests to payments_admin;
grant insert (id, application, kind, requested_at, traceparent), delete on webhook_tests to payments_admin;
grant insert on applications, gateways, webhook_secrets to payments_admin;
grant insert (hash, prefix, application, mode, name, scopes, expires_at, issued_by, issued_via) on tokens to payments_admin;
grant update (status, default_gateway, fallback_gateways, allowed_gateways, callback_urls, webhook_url, requests_per_minute, refund_events, dispute_events, orders_paid_once,
  display_name, locale) on applications to payments_admin;
-- An admin's refund is a request, as the API's: its workflow carries it out. So is the decision about one that nobody
-- can know. A trigger says whether another admin must confirm it, and a row of that one is the only way to do so.
grant insert (id, payment_id, application, test, order_id, status, stage, amount, currency, method, requested_by,
  reason, reference, metadata, fingerprint, asked_by, asked_via, created_at, updated_at),
  update (settled_as, due_at, cancel_requested, released) on refunds to payments_admin, payments_console;
grant insert (refund_id, token, link_id, actor, via) on confirmations to payments_admin, payments_console;
grant select, insert, update, delete on refund_limits, approvals to payments_admin;
grant update (enabled, credentials, notification_secrets, refund_credentials, time_zone, fee_basis_points, fee_fixed, fees_reported) on gateways
  to payments_admin;
grant select on movements, disputes, gateway_entries, statement_lines, payouts, payout_lines, account_days, account_balances, account_differences, receivers, notices, notice_addresses to payments_admin, payments_console;
grant insert (application, address), delete on notice_addresses to payments_admin, payments_console;
grant select on removed_notice_addresses to payments_admin, payments_console;
grant insert (application, kind, state_since, address, created_at, next_try_at) on notices to payments_admin, payments_console;
grant update (state, reason, changed_at) on account_differences to payments_admin, payments_console;
-- A trigger lets a token end earlier alone.
grant update (revoked_at, expires_at) on tokens to payments_admin;
grant update (ciphertext, retires_at) on webhook_secrets to payments_admin;
grant update (status, round, trigger, round_began_at, next_attempt_at, at_once, exhausted_by_run) on deliveries
  to payments_admin;
-- Replays of many are requests, as the API's: a workflow carries them out.
grant select,
  insert (id, application, test, trigger, delivery, kind, from_at, to_at, error_class, event_ids, per_second, matched),
  update (stop_requested) on replays to payments_admin;

grant select, insert (name, role, applications, email, subject), update (role, applications), delete on console_people to payments_admin;
grant select, insert (hash, name), update (ended_at) on console_links to payments_admin;
grant select, update (ended_at) on console_sessions to payments_admin;
grant select (id, name, label, created_at, used_at) on console_passkeys to payments_admin;

-- The web console shows what admins see, without any ciphertext, and makes some of their changes. It lets viewers and
-- operators in, and out. The command line alone makes admins and their links: a console that somebody has taken over
-- can invent no second admin, and an admin cannot log in as another one.
grant select on applications, tokens, payments, refunds, workflow_outbox, events, deliveries, attempts, late_payments,
  refused_requests, gateway_exchanges, audit_log, console_people, console_links, console_sessions, console_passkeys, console_ended_logins
  to payments_console;
grant select (slug, driver, kind, enabled, has_refund_credentials, has_credentials, created_at, time_zone, silent_until,
  fee_basis_points, fee_fixed, fees_reported) on gateways to payments_console;
grant select (id, application, key_id, created_at, retires_at) on webhook_secrets to payments_console;
grant insert (hash, prefix, application, mode, name, scopes, expires_at, issued_by, issued_via), update (revoked_at, expires_at)
  on tokens to payments_console;
grant insert (application, ciphertext), update (retires_at) on webhook_secrets to payments_console;
grant update (status, default_gateway, fallback_gateways, allowed_gateways, callback_urls, webhook_url, requests_per_minute, refund_events, dispute_events, orders_paid_once,
  display_name, locale) on applications to payments_console;
grant update (checked_at) on late_payments to payments_admin, payments_console;
-- An admin takes the order from an open payment, and an operator has looked after an order that was paid twice.
grant update (order_claimed_at, paid_twice_at) on payments to payments_admin, payments_console;
-- It reads limits and the amount above which another admin must confirm a refund. By a function it makes them stricter,
-- or asks for a looser one, which another admin must confirm.
grant select on approvals, refund_limits to payments_console;
grant select, delete on refund_rule_requests to payments_console;
grant insert (rule_currency, rule_application, rule_amount) on confirmations to payments_console;
-- It can replace credentials, and read none.
grant update (enabled, credentials, notification_secrets, refund_credentials, time_zone, fee_basis_points, fee_fixed, fees_reported) on gateways
  to payments_console;
grant insert (slug, default_gateway, fallback_gateways, allowed_gateways, callback_urls, webhook_url, requests_per_minute, refund_events, dispute_events,
  orders_paid_once, display_name, locale) on applications to payments_console;
-- Replays of many and webhook tests are requests, as the API's: a workflow carries them out.
grant select on replays, replay_results, webhook_tests to payments_console;
grant insert (id, application, test, trigger, delivery, kind, from_at, to_at, error_class, event_ids, per_second,
  matched), update (stop_requested) on replays to payments_console;
grant insert (id, application, kind, requested_at, traceparent), delete on webhook_tests to payments_console;
grant update (status, round, trigger, round_began_at, next_attempt_at, at_once, exhausted_by_run) on deliveries
  to payments_console;
grant insert (name, role, applications, email, subject), update (issuer, subject, account_seen_at), delete on console_people
  to payments_console;
grant insert (hash, name), update (ended_at) on console_links to payments_console;
grant insert (hash, name, via, link, proved_at), update (seen_at, ended_at) on console_sessions to payments_console;
grant insert (id, name, label, public_key, counter), update (counter, used_at), delete on console_passkeys
  to payments_console;
grant insert (hash), delete on console_ended_logins to payments_console;
grant select, insert (person, name, address), update (address), delete on console_views to payments_console;

-- A purge deletes old records as a role of its own (npm run admin -- purge), which changes nothing else.
grant select, delete on payments, refunds, workflow_outbox, events, deliveries, attempts, late_payments, sandbox_payments,
  sandbox_refunds, gateway_entries, replays, webhook_tests to payments_retention;
grant select (id, status, expires_at), delete on links to payments_retention;
grant select (created_at), delete on console_sessions, console_links to payments_retention;
grant update (response_body) on attempts to payments_retention;
grant select (at), delete on refused_requests to payments_retention;
grant select (payment_id), delete on payers, disputes to payments_retention;
grant select (payment_id, due_at), delete on dispute_looks to payments_retention;
-- It empties old reasons, which are free text. The chain of the audit log stays whole: see audit_reasons.
grant select (id, at, reason), update (reason) on audit_log to payments_retention;
grant select (record), update (salt) on audit_reasons to payments_retention;
grant select (task), update (done_at) on upkeep to payments_retention;
grant select (id, changed_at, reason), update (reason) on account_differences to payments_retention;
-- `audit --verify` compares reasons with their hashes.
grant select on audit_reasons to payments_admin;

-- The table sets time, id and hash of an audit record, so no role may insert them. Each record waits for the row of
-- audit_chain, which no role may lock by itself.
grant insert (actor, action, subject, before, after, reason) on audit_log
  to payments_worker, payments_admin, payments_retention, payments_console;
grant insert (via) on audit_log to payments_admin, payments_retention, payments_console;
-- A worker can write only in the service's name, never in a person's. An existing policy is left as it is,
-- because any change locks the table: give a changed policy a new name.
do $$
declare
  restricted text;
begin
  foreach restricted in array array['audit_log', 'movements', 'refunds', 'tokens', 'links', 'confirmations', 'console_people', 'console_links'] loop
    if not (select relrowsecurity from pg_class where oid = restricted::regclass) then
      execute format('alter table %I enable row level security', restricted);
    end if;
    -- This policy allows what the grants above allow. No role may read confirmations.
    if restricted <> 'confirmations' and not exists (select from pg_policy where polname = restricted || '__granted') then
      execute format('create policy %I on %I using (true)', restricted || '__granted', restricted);
    end if;
  end loop;
  if not exists (select from pg_policy where polname = 'audit_log__service') then
    create policy audit_log__service on audit_log as restrictive for insert to payments_worker
      with check (actor = 'service');
  end if;
  -- Payments and refunds become movements by triggers, which run as the owner.
  if not exists (select from pg_policy where polname = 'movements__worker') then
    create policy movements__worker on movements as restrictive for insert to payments_worker
      with check (kind in ('fee', 'chargeback'));
  end if;
  -- Each role may ask for refunds of its own kind. The worker finds those that were made at the gateway.
  -- The minute is for a request that came before its token ended.
  if not exists (select from pg_policy where polname = 'refunds__api') then
    create policy refunds__api on refunds as restrictive for insert to payments_api
      with check (requested_by = 'application' and method = 'refund' and stage = 'reserved' and exists (
        select from tokens t
        where left(encode(t.hash, 'hex'), 16) = refunds.token and t.application = refunds.application
          and (t.mode = 'test') = refunds.test and 'refund' = any(t.scopes) and not t.to_confirm
          and coalesce(least(t.revoked_at, t.expires_at) > now() - interval '1 minute', true)));
  end if;
  -- It calls a refund off at once, and never puts one off.
  if not exists (select from pg_policy where polname = 'refunds__api_calls_off') then
    create policy refunds__api_calls_off on refunds as restrictive for update to payments_api
      with check (cancel_requested and (status <> 'pending' or due_at <= now()));
  end if;
  if not exists (select from pg_policy where polname = 'refunds__admin') then
    create policy refunds__admin on refunds as restrictive for insert to payments_admin
      with check (requested_by = 'admin' and asked_via = 'cli' and stage = 'reserved');
  end if;
  if not exists (select from pg_policy where polname = 'refunds__console') then
    create policy refunds__console on refunds as restrictive for insert to payments_console
      with check (requested_by = 'admin' and asked_via = 'console' and stage = 'reserved'
        and exists (select from console_people p where p.name = asked_by and p.role = 'admin'));
  end if;
  if not exists (select from pg_policy where polname = 'refunds__worker') then
    create policy refunds__worker on refunds as restrictive for insert to payments_worker
      with check (requested_by = 'gateway' and method = 'refund' and status = 'succeeded');
  end if;
  -- Each role makes links of its own kind.
  if not exists (select from pg_policy where polname = 'links__api') then
    create policy links__api on links as restrictive for insert to payments_api
      with check (requested_by = 'application' and not to_confirm);
  end if;
  if not exists (select from pg_policy where polname = 'links__admin') then
    create policy links__admin on links as restrictive for insert to payments_admin
      with check (requested_by = 'admin' and asked_via = 'cli');
  end if;
  if not exists (select from pg_policy where polname = 'links__console') then
    create policy links__console on links as restrictive for insert to payments_console
      with check (requested_by = 'admin' and asked_via = 'console'
        and exists (select from console_people p where p.name = asked_by and p.role = 'admin'));
  end if;
  -- A token names its issuer: another admin confirms one with the scope `refund`.
  if not exists (select from pg_policy where polname = 'tokens__admin') then
    create policy tokens__admin on tokens as restrictive for insert to payments_admin
      with check (issued_by is not null and issued_via = 'cli');
  end if;
  if not exists (select from pg_policy where polname = 'tokens__console') then
    create policy tokens__console on tokens as restrictive for insert to payments_console
      with check (issued_via = 'console'
        and exists (select from console_people p where p.name = issued_by and p.role = 'admin'));
  end if;
  -- An admin of the command line cannot confirm in the name of the console, which cannot invent people.
  if not exists (select from pg_policy where polname = 'confirmations__admin') then
    create policy confirmations__admin on confirmations for insert to payments_admin with check (via = 'cli');
  end if;
  if not exists (select from pg_policy where polname = 'confirmations__console') then
    create policy confirmations__console on confirmations for insert to payments_console
      with check (via = 'console' and exists (select from console_people p where p.name = actor and p.role = 'admin'));
  end if;
  -- A console that could make an admin, or log in as one, would be the second admin of all that needs two.
  if not exists (select from pg_policy where polname = 'console_people__console') then
    create policy console_people__console on console_people as restrictive for insert to payments_console
      with check (role <> 'admin');
  end if;
  if not exists (select from pg_policy where polname = 'console_links__console') then
    create policy console_links__console on console_links as restrictive for insert to payments_console
      with check (exists (select from console_people p where p.name = console_links.name and p.role <> 'admin'));
  end if;
  -- Only the console can write `console`: the person was logged in there.
  if not exists (select from pg_policy where polname = 'audit_log__console') then
    create policy audit_log__console on audit_log as restrictive for insert to payments_console
      with check (via = 'console' and actor <> 'service');
  end if;
  if not exists (select from pg_policy where polname = 'audit_log__others') then
    create policy audit_log__others on audit_log as restrictive for insert
      to payments_admin, payments_retention with check (via is distinct from 'console');
  end if;
end
$$;

grant execute on function payment_to_refund(text) to payments_api, payments_admin, payments_console;
grant execute on function refund_to_confirm(text, text, bigint, text, boolean, timestamptz, bigint) to payments_admin, payments_console;
grant execute on function link_to_confirm(text, bigint, text, boolean) to payments_admin, payments_console;
grant execute on function ask_refund_rule(text, text, bigint, text) to payments_console;

commit;
