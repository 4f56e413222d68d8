-- The whole schema. Change it here until the first release; add a file with each change after that.

-- The accounts at payment providers. Credentials are encrypted, see secrets/secret-box.ts. notification_secrets only
-- check signatures: another key encrypts them, which the API has, and it cannot read the credentials.
create table gateways (
  slug text primary key,
  driver text not null,
  kind text not null constraint gateways__kind check (kind in ('sandbox', 'live')),
  enabled boolean not null default true,
  credentials text,
  notification_secrets text,
  -- Refunds alone need these. A replacement of the others keeps them.
  refund_credentials text,
  -- Its days begin at midnight there.
  time_zone text not null default 'UTC',
  -- The agreed fee of a payment: hundredths of a percent, and minor units; null: not known.
  fee_basis_points int constraint gateways__fee check (fee_basis_points between 0 and 10000 and fee_fixed >= 0),
  fee_fixed bigint,
  -- The fees that it reports with its payments become movements. An admin has compared them with what it paid out.
  fees_reported boolean not null default false,
  -- For those who may not read them.
  has_credentials boolean not null generated always as (credentials is not null) stored,
  has_refund_credentials boolean not null generated always as (refund_credentials is not null) stored,
  -- Openings failed there again and again: until then other gateways that may open the payment are asked before it.
  -- Kept until it opens one; silences makes the next pause longer.
  silent_until timestamptz,
  silences int not null default 0,
  created_at timestamptz not null default now()
);

-- The calling systems. The first callback URL is the default.
create table applications (
  slug text primary key,
  status text not null default 'active'
    constraint applications__status check (status in ('active', 'disabled')),
  default_gateway text not null references gateways,
  -- Asked in this order while the gateways before it do not open a payment. All are live, or all are sandboxes.
  fallback_gateways text[] not null default '{}' constraint applications__fallback_gateways
    check (cardinality(fallback_gateways) <= 4 and default_gateway <> all (fallback_gateways)),
  -- A create may name these beside the ones above.
  allowed_gateways text[] not null default '{}' constraint applications__allowed_gateways
    check (cardinality(allowed_gateways) <= 50),
  callback_urls text[] not null
    constraint applications__callback_urls check (cardinality(callback_urls) > 0),
  webhook_url text,
  requests_per_minute int not null default 120
    constraint applications__requests_per_minute check (requests_per_minute > 0),
  -- Its receiver knows the events of refunds.
  refund_events boolean not null default false,
  -- Its receiver knows the events of disputes.
  dispute_events boolean not null default false,
  -- At most one payment of an order is paid and not given back in full.
  orders_paid_once boolean not null default false,
  -- The name that payers see; null: the slug.
  display_name text constraint applications__display_name check (char_length(display_name) between 1 and 60),
  -- The language of payers' pages for browsers that ask for none of theirs; null: English.
  locale text,
  created_at timestamptz not null default now()
);

-- Access tokens of applications. Only the hash of a token is stored; the prefix is for logs and lists.
create table tokens (
  hash bytea primary key,
  prefix text not null,
  application text not null references applications,
  mode text not null constraint tokens__mode check (mode in ('live', 'test')),
  name text not null,
  -- The token's rights, see contract/token.ts.
  scopes text[] not null default '{read,create,replay}' constraint tokens__scopes
    check (cardinality(scopes) > 0 and scopes <@ '{read,create,replay,refund,link}'),
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  -- The admin who issued it, and how; null: the service did, for its demo.
  issued_by text,
  issued_via text constraint tokens__issued_via check (issued_via in ('cli', 'console')),
  -- Nobody can use it until another admin confirms it.
  to_confirm boolean not null default false
);

-- The keys that sign webhooks, encrypted. A rotation leaves the previous secret active until retires_at.
create table webhook_secrets (
  id bigint generated always as identity primary key,
  application text not null references applications,
  ciphertext text not null,
  -- The key of WEBHOOKS_KEY that sealed it: a list needs no right to read the ciphertext.
  key_id text not null generated always as (split_part(ciphertext, '.', 2)) stored,
  created_at timestamptz not null default now(),
  retires_at timestamptz
);
create index webhook_secrets__application on webhook_secrets (application);

-- Requests of an application in the current clock minute. Unlogged: a crash of Postgres resets the counts.
create unlogged table request_counts (
  application text primary key,
  -- Minutes since 1970.
  minute bigint not null,
  requests int not null
) with (fillfactor = 50);

-- Who a name of an admin means: neither case nor spaces make another person.
create function person_of(name text) returns text immutable
return lower(regexp_replace(normalize(name, NFKC), '\s', '', 'g'));

-- Orders that whoever has the address of the link may pay once. contract/link.ts lists the columns that the API returns.
create table links (
  id text primary key,
  application text not null references applications,
  test boolean not null,
  order_id text not null,
  status text not null default 'open' constraint links__status check (status in ('open', 'paid', 'expired', 'disabled')),
  amount bigint not null constraint links__amount check (amount between 1 and 999999999999),
  currency text not null,
  description text,
  locale text,
  -- The payment that has paid it. A purge may have deleted it since.
  payment_id text,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  paid_at timestamptz,
  disabled_at timestamptz,
  requested_by text not null constraint links__requested_by check (requested_by in ('application', 'admin')),
  -- The admin who asked for it, and how; null: an application did.
  asked_by text,
  asked_via text constraint links__asked_via check (asked_via in ('cli', 'console')),
  -- A payer sees it once a second admin has confirmed it.
  to_confirm boolean not null default false,
  -- SHA-256 of the application's idempotency key, and of its request.
  key_hash bytea,
  fingerprint bytea,
  constraint links__asked check ((requested_by = 'admin') = (asked_by is not null)),
  constraint links__paid check ((status = 'paid') = (payment_id is not null) and (status = 'paid') = (paid_at is not null)),
  constraint links__disabled check (status <> 'disabled' or disabled_at is not null),
  constraint links__key unique (application, test, key_hash)
);
create index links__list on links (application, test, created_at desc, id desc);
create index links__list_by_status on links (application, test, status, created_at desc, id desc);
create index links__list_by_order on links (application, test, order_id, created_at desc, id desc);
create index links__list_by_order_and_status on links (application, test, order_id, status, created_at desc, id desc);
-- For admins: those that wait for a second one, and what an admin has asked for.
create index links__to_confirm on links (application, test, created_at desc, id desc) where to_confirm and status = 'open';
create index links__asked_by on links (person_of(asked_by), created_at) where requested_by = 'admin';
-- The sweeper ends these.
create index links__to_expire on links (expires_at) where status = 'open';

-- One try of a payer to pay for an order. contract/payment-fields.ts lists the columns that the API returns.
create table payments (
  id text primary key,
  application text not null references applications,
  test boolean not null,
  order_id text not null,
  status text not null constraint payments__status
    check (status in ('pending', 'processing', 'paid', 'failed', 'cancelled', 'expired')),
  amount bigint not null constraint payments__amount check (amount between 1 and 999999999999),
  currency text not null,
  -- The first of the candidates, and then the one that has opened it.
  gateway text not null references gateways,
  -- The gateways that may open it, in the order of asking; null: only the one above.
  candidates text[] constraint payments__candidates
    check (cardinality(candidates) between 2 and 5 and gateway = any (candidates)),
  description text,
  callback_url text not null,
  -- Text, not jsonb: the API returns it as it was sent.
  metadata text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  gateway_reference text,
  gateway_redirect jsonb,
  -- The last part of the address where the provider reports changes. Nobody but its servers knows it; null: it has none.
  report_key text constraint payments__report_key check (report_key ~ '^[A-Za-z0-9_-]{32}$'),
  -- What the payer's last return brought for the next call to the provider. Anybody can send it.
  return_proof text constraint payments__return_proof check (return_proof ~ '^[ -~]{1,200}$'),
  -- When the payer was last sent to the gateway.
  checkout_at timestamptz,
  -- When the payer of a sandbox plan comes back; null for all others.
  payer_returns_at timestamptz,
  -- From when the pause before the next inquiry counts: the time of the last one without an outcome, or an earlier
  -- time after one that is uncertain, see payments/sweeper.ts.
  inquired_at timestamptz,
  -- True when that inquiry got no usable answer, or a two-step gateway was verifying: the gateway's list of unverified
  -- payments does not show a payment whose verification succeeded and whose answer was lost.
  uncertain boolean not null default false,
  -- The gateway's number of money that it has captured, also where the payment is not paid here.
  tracking_code text,
  card_pan_masked text,
  paid_at timestamptz,
  failure_code text,
  cancelled_by text
    constraint payments__cancelled_by check (cancelled_by in ('payer', 'application', 'admin')),
  cancellation_reason text,
  -- Why the application last asked for a cancel. Temporal would keep it in the history.
  cancel_request_reason text,
  -- The gateway's own code and message, for admins only.
  gateway_code text,
  gateway_message text,
  -- The fee that the gateway reported for the payment, and who bears it.
  reported_fee bigint constraint payments__reported_fee_amount check (reported_fee >= 0),
  reported_fee_paid_by text constraint payments__reported_fee_paid_by check (reported_fee_paid_by in ('merchant', 'payer')),
  -- The amount that was given back, and that which refunds hold that have not ended. Only these change after the payment's end. More
  -- than the amount may go back where somebody gives money back at the gateway.
  amount_refunded bigint not null default 0,
  amount_refund_pending bigint not null default 0,
  -- Chargebacks that are not won hold so much of it, and those that are lost so much.
  amount_disputed bigint not null default 0,
  amount_lost bigint not null default 0,
  -- When the sweeper last started the payment's workflow again.
  healed_at timestamptz,
  -- The searches for late money that returns of the payer have caused, and when the last one asks the gateway. Each
  -- one makes the pause before the next one longer.
  late_searches int not null default 0,
  late_search_at timestamptz,
  -- The link that a payer began it with, and when that has ended, because this payment is paid.
  link_id text references links,
  link_ended_at timestamptz,
  -- The language that the application knows of the payer, for the payer's pages. All else of the payer is in `payers`.
  payer_locale text,
  -- The trace of the create request, as its webhooks have it. The workflow starts with it, whoever starts it.
  traceparent text constraint payments__traceparent check (length(traceparent) = 55),
  -- Since when the payment holds its order: while its money is taken, then while it is paid and has not lost all of it.
  order_claimed_at timestamptz,
  -- When it was found that another payment of its order is paid, too; null: none is, or a person has looked after it.
  paid_twice_at timestamptz,
  constraint payments__order_claimed
    check (order_claimed_at is null or status in ('pending', 'processing', 'paid')),
  constraint payments__gateway_reference unique (gateway, gateway_reference),
  constraint payments__paid check ((status = 'paid') = (paid_at is not null)),
  constraint payments__failed check ((status = 'failed') = (failure_code is not null)),
  constraint payments__cancelled check ((status = 'cancelled') = (cancelled_by is not null)),
  constraint payments__reported_fee check ((reported_fee is null) = (reported_fee_paid_by is null)),
  constraint payments__refunded check (amount_refunded >= 0 and amount_refund_pending >= 0 and amount_disputed >= 0 and amount_lost >= 0)
);

-- One index for each combination of equality filters of the list, followed by the order of the list. Dates
-- are ranges on created_at, so every list reads one short part of one of these indexes.
create index payments__list on payments (application, test, created_at desc, id desc);
create index payments__list_by_status
  on payments (application, test, status, created_at desc, id desc);
-- It also finds the orders that begin so.
create index payments__list_by_order
  on payments (application, test, order_id text_pattern_ops, created_at desc, id desc);
create index payments__list_by_order_and_status
  on payments (application, test, order_id, status, created_at desc, id desc);

-- A person searches by the end of a card's number, or by an amount. An open payment is in neither.
create index payments__card on payments (application, test, right(card_pan_masked, 4), created_at desc)
  where card_pan_masked is not null;
create index payments__amount on payments (application, test, currency, amount, created_at desc)
  where status in ('paid', 'failed', 'cancelled', 'expired');

-- One payment holds an order. The second of two claims at once waits here, and is refused.
create unique index payments__order on payments (application, test, order_id)
  where order_claimed_at is not null;

-- The tries of a link, and those that have paid one which has not ended yet.
create index payments__link on payments (link_id, created_at desc) where link_id is not null;
create index payments__link_paid on payments (link_id)
  where link_id is not null and status = 'paid' and link_ended_at is null;

-- The sweeper's queries: payments to inquire about, overdue payments, and payments to heal.
create index payments__to_inquire on payments (gateway, coalesce(inquired_at, checkout_at))
  where checkout_at is not null and status in ('pending', 'processing');
create index payments__open on payments (expires_at) where status in ('pending', 'processing');
-- The open payments that hold an order, for admins.
create index payments__holding on payments (order_claimed_at)
  where order_claimed_at is not null and status in ('pending', 'processing');
create index payments__to_heal on payments (healed_at nulls first, expires_at)
  where status in ('pending', 'processing');
-- Their orders, for admins.
create index payments__paid_twice on payments (test, paid_twice_at desc) where paid_twice_at is not null;

-- Finds a tracking code that a gateway reports twice, for an alert. A unique constraint would prevent the
-- second payment from ending.
create index payments__tracking_code on payments (gateway, tracking_code)
  where tracking_code is not null;

-- The sweeper inquires only about payments with checkout_at. Clearing the column would therefore let a
-- payer's money go back, so no role may do it.
create function refuse_clearing() returns trigger language plpgsql as $$
begin
  raise exception '% cannot be cleared', tg_argv[0] using errcode = 'insufficient_privilege';
end
$$;
create trigger payments__checkout_stays before update of checkout_at on payments
  for each row when (old.checkout_at is not null and new.checkout_at is null)
  execute function refuse_clearing('checkout_at');

-- The statement that records the opening says which gateway it was at. From then on its reference and its payer are there.
create function refuse_moving() returns trigger language plpgsql as $$
begin
  raise exception 'the gateway of an opened payment stays' using errcode = 'insufficient_privilege';
end
$$;
create trigger payments__gateway_stays before update of gateway on payments
  for each row when (new.gateway <> old.gateway and (old.gateway_reference is not null or old.status <> 'pending'))
  execute function refuse_moving();

-- What gateways let us use for one payment alone, as the reference number of a payer's transfer. The rows stay when their
-- payments are purged.
create table gateway_proofs (
  gateway text not null references gateways,
  proof text not null constraint gateway_proofs__proof check (length(proof) between 1 and 200),
  -- It stands beside another text in every call.
  payment_id text not null constraint gateway_proofs__payment_id check (payment_id like 'PAY\_%'),
  claimed_at timestamptz not null default now(),
  primary key (gateway, proof)
);
create index gateway_proofs__payment_id on gateway_proofs (payment_id);
create sequence order_numbers;

-- The transactional outbox: payments whose workflow has not been started yet. Rows live for moments.
create table workflow_outbox (
  payment_id text primary key references payments,
  created_at timestamptz not null
);
create index workflow_outbox__created_at on workflow_outbox (created_at);

-- The data of a payer for gateways, sealed with PAYERS_KEY. The statements that record an opening or an end delete it,
-- and the sweeper deletes what is older than 25 hours: no payment is open then.
create table payers (
  payment_id text primary key references payments,
  sealed text not null,
  created_at timestamptz not null default now()
);
create index payers__created_at on payers (created_at);

-- The responses of creates, by idempotency key. A repeated create returns the stored response.
create table idempotency_keys (
  application text not null references applications,
  test boolean not null,
  route text not null,
  -- A hash of the key: people type names and numbers there.
  key text not null,
  fingerprint bytea not null,
  status int not null,
  location text not null,
  body text not null,
  expires_at timestamptz not null,
  primary key (application, test, route, key)
);
create index idempotency_keys__expires_at on idempotency_keys (expires_at);

-- Money that goes back to a payer. contract/refund.ts lists the columns that the API returns. The id is derived from
-- what asked for the refund, so the same request finds the same row.
create table refunds (
  id text primary key,
  payment_id text not null references payments,
  application text not null,
  test boolean not null,
  order_id text not null,
  status text not null constraint refunds__status check (status in ('pending', 'succeeded', 'failed')),
  stage text constraint refunds__stage
    check (stage in ('reserved', 'sent', 'accepted', 'waiting_for_balance', 'by_hand')),
  amount bigint not null constraint refunds__amount check (amount > 0),
  currency text not null,
  method text not null constraint refunds__method check (method in ('refund', 'recorded')),
  requested_by text not null
    constraint refunds__requested_by check (requested_by in ('application', 'admin', 'gateway')),
  reason text,
  reference text,
  -- Text, not jsonb: the API returns it as it was sent.
  metadata text not null,
  -- SHA-256 of the request: the same idempotency key with another one is refused.
  fingerprint bytea,
  -- The number of times that the gateway was told, and the first time. Both are written before the call.
  times_told int not null default 0,
  told_at timestamptz,
  -- Somebody called it off before the gateway was told: it never is.
  cancel_requested boolean not null default false,
  -- The id of the token that asked for it, as lists show it; null: no application did.
  token text,
  -- The admin who asked for it, and how; null: no admin did.
  asked_by text,
  asked_via text constraint refunds__asked_via check (asked_via in ('cli', 'console')),
  -- Another admin must confirm it: until then the gateway is not told.
  to_confirm boolean not null default false,
  -- Why, as refund_to_confirm has said: the sum that was above the amount of the rule, and that amount.
  confirmed_for text constraint refunds__confirmed_for check (confirmed_for in ('refund', 'payment', 'admin')),
  confirmed_sum bigint,
  confirmed_above bigint,
  -- An admin has it go on although its application is disabled.
  released boolean not null default false,
  -- An admin's decision about a refund that is by_hand.
  settled_as text constraint refunds__settled_as check (settled_as in ('succeeded', 'failed')),
  -- The gateway's id of it.
  gateway_reference text,
  bank_reference text,
  failure_code text,
  -- The gateway's own code and message, for admins only.
  gateway_code text,
  gateway_message text,
  expected_at timestamptz,
  succeeded_at timestamptz,
  failed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- When its workflow is due to work on it. The sweeper starts the workflow of a refund that is overdue.
  due_at timestamptz,
  -- When the sweeper last did that.
  healed_at timestamptz,
  -- The trace of the request that asked for it, as its webhooks have it; null: an admin or the gateway made it.
  traceparent text constraint refunds__traceparent check (length(traceparent) = 55),
  constraint refunds__pending check ((status = 'pending') = (stage is not null)),
  constraint refunds__due check (
    due_at is null or (status = 'pending' and (stage <> 'by_hand' or settled_as is not null))),
  constraint refunds__failed check ((status = 'failed') = (failure_code is not null)),
  constraint refunds__settled check (settled_as is null or stage is null or stage = 'by_hand'),
  constraint refunds__asked check ((requested_by = 'admin') = (asked_by is not null))
);

-- The disputes of payments, as their gateways have reported. contract/dispute.ts lists the columns that the API returns.
create table disputes (
  id text primary key,
  payment_id text not null references payments,
  application text not null,
  test boolean not null,
  order_id text not null,
  gateway text not null,
  gateway_reference text not null,
  stage text not null constraint disputes__stage check (stage in ('inquiry', 'chargeback')),
  status text not null
    constraint disputes__status check (status in ('needs_response', 'under_review', 'won', 'lost', 'closed')),
  amount bigint not null,
  currency text not null,
  reason text,
  network_reason text,
  respond_by timestamptz,
  opened_at timestamptz not null,
  closed_at timestamptz,
  -- How often it has changed, the first record included. An event has the number of its change.
  changes int not null default 1,
  updated_at timestamptz not null
);
create index disputes__payment on disputes (payment_id, opened_at desc, id desc);
create index disputes__list on disputes (application, test, opened_at desc, id desc);
create index disputes__list_by_status on disputes (application, test, status, opened_at desc, id desc);
create index disputes__list_by_stage on disputes (application, test, stage, opened_at desc, id desc);
create index disputes__list_by_stage_and_status
  on disputes (application, test, stage, status, opened_at desc, id desc);

-- For admins: those of every application, those that a person can still answer, and the gateway's own id, which they search.
create index disputes__all on disputes (opened_at desc, id desc);
create index disputes__to_answer on disputes (test, respond_by) where status = 'needs_response' and respond_by is not null;
create index disputes__reference on disputes (gateway_reference);

-- Payments whose disputes the sweeper looks at: somebody has reported one, or one is open. No other payment has a row.
create table dispute_looks (
  payment_id text primary key references payments,
  -- Each request and each recorded look has the next number. A look counts only if it has the last one.
  number int not null default 1,
  due_at timestamptz
);
create index dispute_looks__due on dispute_looks (due_at) where due_at is not null;

-- What the refunds that an application asks for may reserve in a day of UTC, in minor units, and what they have. An
-- application with a limit refunds nothing in a currency without one.
create table refund_limits (
  application text not null references applications,
  test boolean not null,
  currency text not null,
  per_day bigint not null,
  day date not null,
  used bigint not null default 0,
  primary key (application, test, currency),
  constraint refund_limits__used check (used >= 0 and used <= per_day)
);

-- Another admin must confirm refunds and links of an admin above this amount, in minor units. While there is a row for
-- refunds, another admin must also confirm a token that may refund.
create table approvals (
  kind text constraint approvals__kind check (kind in ('refund', 'link')),
  currency text,
  above bigint not null constraint approvals__above check (above >= 0),
  primary key (kind, currency)
);

-- What an admin of the console wants of these rules, where it is looser than what holds now. Another admin confirms it.
create table refund_rule_requests (
  -- The limit of this application; null: the amount above which another admin confirms.
  application text references applications,
  currency text not null,
  -- In minor units; null: none.
  amount bigint constraint refund_rule_requests__amount check (amount >= 0),
  asked_by text not null,
  asked_at timestamptz not null default now(),
  constraint refund_rule_requests__rule unique nulls not distinct (application, currency)
);

create index refunds__payment on refunds (payment_id, created_at desc, id desc);
-- The list of a gateway names the refund whose money came back.
create index refunds__reference on refunds (gateway_reference) where gateway_reference is not null;
create index refunds__list on refunds (application, test, created_at desc, id desc);
create index refunds__list_by_status on refunds (application, test, status, created_at desc, id desc);
create index refunds__list_by_order on refunds (application, test, order_id, created_at desc, id desc);
-- For admins: those of every application.
create index refunds__all on refunds (created_at desc, id desc);
create index refunds__due on refunds (due_at) where due_at is not null;
create index refunds__by_hand on refunds (updated_at) where stage = 'by_hand';
create index refunds__to_confirm on refunds (created_at) where status = 'pending' and to_confirm;
create index refunds__reserved on refunds (application) where stage = 'reserved';
-- What an admin has asked for.
create index refunds__asked_by on refunds (person_of(asked_by), created_at) where requested_by = 'admin';

-- A refund, a token, a link or a rule that waits for a second admin, and that one.
create table confirmations (
  refund_id text constraint confirmations__refund unique references refunds on delete cascade,
  token bytea constraint confirmations__token unique references tokens,
  link_id text constraint confirmations__link unique references links on delete cascade,
  -- A rule that was asked for: refund_rule_requests forgets it.
  rule_currency text,
  rule_application text,
  rule_amount bigint,
  actor text not null,
  via text not null constraint confirmations__via check (via in ('cli', 'console')),
  confirmed_at timestamptz not null default now(),
  constraint confirmations__subject check (num_nonnulls(refund_id, token, link_id, rule_currency) = 1)
);

-- No role may change the sums of a payment, what is used of a limit, or what waits for a confirmation: the functions
-- below do, as the owner. So limit and rule hold for every statement.

-- Locks a payment for those who may refund it and not change it.
create function payment_to_refund(payment text) returns setof payments language sql volatile
  security definer set search_path = pg_catalog, public, pg_temp as $$
  select * from payments where id = payment for no key update
$$;
revoke execute on function payment_to_refund(text) from public;
-- The sum for which another admin must confirm a refund of an admin, and the amount of the rule; no row: none is above it.
-- Three sums count, each with the new refund: the refund, what admins have asked for of the payment, and what this one has
-- in 24 hours. So do refunds that an admin has settled as failed, because the gateway may have given the money back after
-- all. Nobody dates a refund back. `earlier` is what the same admin wants to ask for before it, of other payments.
create function refund_to_confirm(of_payment text, in_currency text, wanted bigint, asker text, is_test boolean, at timestamptz,
  earlier bigint default 0)
  returns table (counted text, total bigint, above bigint) language sql stable
  set search_path = pg_catalog, public, pg_temp as $$
  select s.counted, s.total, a.above from approvals a cross join lateral (values
    (1, 'refund', wanted),
    (2, 'payment', wanted + (
      select coalesce(sum(r.amount), 0)::bigint from refunds r
      where r.payment_id = of_payment and r.requested_by = 'admin' and (r.status <> 'failed' or r.settled_as = 'failed'))),
    (3, 'admin', wanted + earlier + (
      select coalesce(sum(r.amount), 0)::bigint from refunds r
      where person_of(r.asked_by) = person_of(asker) and r.created_at > at - interval '24 hours'
        and r.requested_by = 'admin' and (r.test, r.currency) = (is_test, in_currency)
        and (r.status <> 'failed' or r.settled_as = 'failed')))
  ) as s (rank, counted, total)
  where a.kind = 'refund' and a.currency = in_currency and s.total > a.above
  order by s.rank limit 1
$$;
revoke execute on function refund_to_confirm(text, text, bigint, text, boolean, timestamptz, bigint) from public;
-- Reserves what a refund asks for. One that was made at the gateway reserves nothing.
-- The limit: a transaction that began before midnight may come after one of the new day, so a day never goes back. A clock
-- that runs ahead begins no day: those of Postgres and of who asks must agree that it has begun.
-- The row of the rule is locked, so of two refunds at once the second one sees the first.
create function reserve_refund() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  -- By the clock that is behind.
  asked_at timestamptz := least(now(), new.created_at);
  today date := (asked_at at time zone 'utc')::date;
  why record;
begin
  update payments p set amount_refund_pending = p.amount_refund_pending + new.amount
  where p.id = new.payment_id and p.status = 'paid'
    and (p.application, p.test, p.order_id, p.currency) = (new.application, new.test, new.order_id, new.currency)
    and new.amount <= p.amount - p.amount_refunded - p.amount_refund_pending - p.amount_disputed;
  if not found then
    raise exception 'the payment has not so much left'
      using errcode = 'check_violation', constraint = 'refunds__left';
  end if;
  new.to_confirm := false;
  new.due_at := now();
  if new.requested_by = 'application' then
    update refund_limits l set day = greatest(l.day, today),
      used = new.amount + case when l.day < today then 0 else l.used end
    where (l.application, l.test, l.currency) = (new.application, new.test, new.currency);
    if not found and exists (
      select from refund_limits l where (l.application, l.test) = (new.application, new.test))
    then
      raise exception 'the application has a limit, and none in this currency'
        using errcode = 'check_violation', constraint = 'refund_limits__currency';
    end if;
  else
    new.created_at := greatest(new.created_at, date_trunc('milliseconds', now()));
    new.updated_at := greatest(new.updated_at, new.created_at);
    perform from approvals where kind = 'refund' and currency = new.currency for update;
    select * into why
    from refund_to_confirm(new.payment_id, new.currency, new.amount, new.asked_by, new.test, asked_at);
    if found then
      new.confirmed_for := why.counted;
      new.confirmed_sum := why.total;
      new.confirmed_above := why.above;
      new.to_confirm := true;
      new.due_at := null;
    end if;
  end if;
  return new;
end
$$;
revoke execute on function reserve_refund() from public;
create trigger refunds__reserve before insert on refunds
  for each row when (new.stage = 'reserved') execute function reserve_refund();
create trigger refunds__cancel_stays before update of cancel_requested on refunds
  for each row when (old.cancel_requested and not new.cancel_requested)
  execute function refuse_clearing('cancel_requested');
create trigger refunds__settled_stays before update of settled_as on refunds
  for each row when (old.settled_as is not null and new.settled_as is distinct from old.settled_as)
  execute function refuse_clearing('settled_as');

create function token_to_confirm() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  new.to_confirm := 'refund' = any(new.scopes) and exists (select from approvals where kind = 'refund');
  return new;
end
$$;
revoke execute on function token_to_confirm() from public;
create trigger tokens__to_confirm before insert on tokens
  for each row execute function token_to_confirm();
create trigger tokens__ends_earlier before update of expires_at on tokens
  for each row when (new.expires_at is null or new.expires_at > old.expires_at)
  execute function refuse_clearing('expires_at');

-- What an admin has asked for in 24 hours with a new link, and the amount of the rule; no row: it is not above it. Links that
-- were disabled or have expired count, too: somebody may have paid one before.
create function link_to_confirm(in_currency text, wanted bigint, asker text, is_test boolean)
  returns table (total bigint, above bigint) language sql stable
  set search_path = pg_catalog, public, pg_temp as $$
  select s.total, a.above from approvals a cross join lateral (
    select wanted + coalesce(sum(l.amount), 0)::bigint as total from links l
    where person_of(l.asked_by) = person_of(asker) and l.created_at > now() - interval '24 hours'
      and l.requested_by = 'admin' and (l.test, l.currency) = (is_test, in_currency)) as s
  where a.kind = 'link' and a.currency = in_currency and s.total > a.above
$$;
revoke execute on function link_to_confirm(text, bigint, text, boolean) from public;

-- The row of the rule is locked, so of two links at once the second one sees the first.
create function hold_link() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform from approvals where kind = 'link' and currency = new.currency for update;
  new.created_at := now();
  new.to_confirm := exists (select from link_to_confirm(new.currency, new.amount, new.asked_by, new.test));
  return new;
end
$$;
revoke execute on function hold_link() from public;
create trigger links__hold before insert on links
  for each row when (new.requested_by = 'admin') execute function hold_link();

-- Sets a rule for refunds in both modes. Null for the application: the amount above which another admin confirms.
create function set_refund_rule(of_application text, in_currency text, wanted bigint) returns void language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
begin
  delete from refund_rule_requests r
  where r.application is not distinct from of_application and r.currency = in_currency;
  if of_application is null then
    delete from approvals where kind = 'refund' and currency = in_currency and wanted is null;
    insert into approvals (kind, currency, above) select 'refund', in_currency, wanted where wanted is not null
    on conflict (kind, currency) do update set above = excluded.above;
  else
    delete from refund_limits where application = of_application and currency = in_currency and wanted is null;
    insert into refund_limits (application, test, currency, per_day, day)
    select of_application, mode.test, in_currency, wanted, (now() at time zone 'utc')::date
    from unnest('{true,false}'::boolean[]) as mode (test) where wanted is not null
    on conflict (application, test, currency) do update
      set per_day = excluded.per_day, used = least(refund_limits.used, excluded.per_day);
  end if;
end
$$;
revoke execute on function set_refund_rule(text, text, bigint) from public;

-- What the console may do about a rule: make it stricter, or ask for a looser one. A limit is looser only while admins
-- need each other: otherwise one admin gives back what an application has more of. Where an application has a limit, it
-- refunds nothing in other currencies, so its first limit is stricter and the next currency looser.
create function ask_refund_rule(of_application text, in_currency text, wanted bigint, asker text) returns text
  language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  now_set bigint;
  has_others boolean;
  is_looser boolean;
begin
  if not exists (select from console_people p where p.name = asker and p.role = 'admin') then
    raise exception 'no admin of the console asks' using errcode = 'insufficient_privilege';
  end if;
  -- Two admins at once: the second one sees what the first has set.
  lock table approvals in share row exclusive mode;
  if of_application is null then
    select above into now_set from approvals where kind = 'refund' and currency = in_currency;
    is_looser := now_set is not null and coalesce(wanted > now_set, true);
  else
    perform from applications where slug = of_application for no key update;
    select max(per_day) filter (where currency = in_currency), coalesce(bool_or(currency <> in_currency), false)
    into now_set, has_others from refund_limits where application = of_application;
    is_looser := exists (select from approvals where kind = 'refund') and case
      when wanted is null then now_set is not null and not has_others
      when now_set is null then has_others
      else wanted > now_set end;
  end if;
  if not is_looser then
    perform set_refund_rule(of_application, in_currency, wanted);
    return 'set';
  end if;
  insert into refund_rule_requests (application, currency, amount, asked_by)
  values (of_application, in_currency, wanted, asker)
  on conflict (application, currency) do update
    set amount = excluded.amount, asked_by = excluded.asked_by, asked_at = now();
  return 'asked';
end
$$;
revoke execute on function ask_refund_rule(text, text, bigint, text) from public;

-- Names say who a person is only on one surface: whoever asks in the console may have another name on the command line.
-- So between the two the name on the command line must be that of an admin of the console.
create function confirm_subject() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  asker record;
begin
  if new.refund_id is not null then
    update refunds r set to_confirm = false, due_at = now()
    where r.id = new.refund_id and r.status = 'pending' and r.to_confirm and not r.cancel_requested
    returning r.asked_by as name, r.asked_via as via into asker;
  elsif new.rule_currency is not null then
    delete from refund_rule_requests r
    where r.application is not distinct from new.rule_application and r.currency = new.rule_currency
      and r.amount is not distinct from new.rule_amount
    returning r.asked_by as name, 'console' as via into asker;
  elsif new.link_id is not null then
    update links l set to_confirm = false
    where l.id = new.link_id and l.to_confirm and l.status = 'open' and l.expires_at > now()
    returning l.asked_by as name, l.asked_via as via into asker;
  else
    update tokens t set to_confirm = false
    where t.hash = new.token and t.to_confirm and t.revoked_at is null
    returning t.issued_by as name, t.issued_via as via into asker;
  end if;
  if not found then
    raise exception 'it does not wait for a confirmation'
      using errcode = 'check_violation', constraint = 'confirmations__waits';
  end if;
  if person_of(asker.name) = person_of(new.actor) then
    raise exception 'another admin must confirm it'
      using errcode = 'check_violation', constraint = 'confirmations__other';
  end if;
  if asker.via <> new.via and not exists (
    select from console_people p
    where p.role = 'admin' and person_of(p.name) = person_of(case when new.via = 'cli' then new.actor else asker.name end))
  then
    raise exception 'the name on the command line is not that of an admin of the console'
      using errcode = 'check_violation', constraint = 'confirmations__known';
  end if;
  if new.rule_currency is not null then
    perform set_refund_rule(new.rule_application, new.rule_currency, new.rule_amount);
  end if;
  return new;
end
$$;
revoke execute on function confirm_subject() from public;
create trigger confirmations__confirm before insert on confirmations
  for each row execute function confirm_subject();

-- The events. Each names its subject (a payment, a refund, a dispute or a link, by its id), the payment it belongs to, and its owner.
-- Every attempt sends these bytes.
create table events (
  id uuid primary key,
  subject text not null,
  -- Null: nobody has tried to pay the link.
  payment_id text references payments,
  application text not null,
  test boolean not null,
  kind text not null,
  body bytea not null,
  created_at timestamptz not null
);
create index events__payment on events (payment_id);
-- A purge looks for the events of links that nobody has tried to pay.
create index events__untried on events (subject) where payment_id is null;

-- The position of each feed's last event. The transaction of the next event locks the row until it commits and takes
-- a later position, whatever the clock says: who sees an event sees all before it. A time, so a database that was
-- restored from an older backup goes on behind the positions that readers have. Milliseconds, because the position
-- of a cursor is a Date.
create table feeds (
  application text not null,
  test boolean not null,
  recorded_at timestamptz(3) not null,
  primary key (application, test)
);

-- Sending an event to the webhook URL, in rounds of attempts. The columns up to recorded_at repeat those of
-- the event and its payment, so that one index serves each list of events with its delivery status.
create table deliveries (
  event_id uuid primary key references events,
  payment_id text not null,
  application text not null,
  test boolean not null,
  order_id text not null,
  kind text not null,
  -- When the payment ended, by the clock of a worker.
  created_at timestamptz not null,
  -- The order of the feed, see feeds.
  recorded_at timestamptz(3) not null,
  status text not null constraint deliveries__status
    check (status in ('pending', 'delivered', 'exhausted', 'none')),
  round int not null default 1,
  -- The one who began the round, and the time. The first round begins when the event is recorded.
  trigger text not null default 'schedule'
    constraint deliveries__trigger check (trigger in ('schedule', 'admin', 'application')),
  round_began_at timestamptz,
  -- When the next attempt is due. The sweeper heals deliveries that are overdue.
  next_attempt_at timestamptz,
  -- The next attempt was asked for: it does not wait for the documented delay.
  at_once boolean not null default false,
  -- When the receiver last accepted the event.
  delivered_at timestamptz,
  -- The class of the last attempt's error; null if the receiver accepted it, or before the first attempt.
  error_class text,
  -- When the last attempt failed, if it was the third one of a round, or one after that: until the receiver accepts the event.
  failing_at timestamptz,
  -- The workflow run that exhausted the round. Another run that finds the delivery exhausted starts a new
  -- round.
  exhausted_by_run text,
  -- When the sweeper last started the payment's workflow again.
  healed_at timestamptz,
  -- Since when the delivery waits for a slot of its application. Its workflow sleeps until the sweeper wakes
  -- it.
  postponed_at timestamptz,
  constraint deliveries__due check ((status = 'pending') = (next_attempt_at is not null))
);
create index deliveries__pending on deliveries (next_attempt_at) where status = 'pending';
-- Those that page operators when they are overdue.
create index deliveries__due on deliveries (next_attempt_at)
  where status = 'pending' and postponed_at is null and not test;
-- Live ones come first: a scrape counts them, however many tests there are.
create index deliveries__exhausted on deliveries (test, payment_id) where status = 'exhausted';
create index deliveries__to_heal on deliveries (healed_at nulls first, next_attempt_at)
  where status = 'pending';
create index deliveries__postponed on deliveries (application, postponed_at)
  where postponed_at is not null;
-- How the receiver is: what it does not accept, and what it accepted late. The feed has what it accepted at once, so a
-- delivery without trouble is in neither.
create index deliveries__failing on deliveries (application, test, status, failing_at) where failing_at is not null;
create index deliveries__late on deliveries (application, test, delivered_at)
  where delivered_at - recorded_at > interval '1 minute';

-- The lists of events, newest first, and the feed. A list without a kind or a status reads the beginning of
-- one range for each of their combinations, see webhooks/events.ts.
create index deliveries__list
  on deliveries (application, test, kind, status, created_at desc, event_id desc);
create index deliveries__list_by_order
  on deliveries (application, test, order_id, kind, status, created_at desc, event_id desc);
-- The lists of failed deliveries by the class of the error.
create index deliveries__list_by_error
  on deliveries (application, test, kind, status, error_class, created_at desc, event_id desc)
  where error_class is not null;
create index deliveries__feed
  on deliveries (application, test, kind, status, recorded_at, event_id);
create index deliveries__feed_by_order
  on deliveries (application, test, order_id, kind, status, recorded_at, event_id);

-- The ledger of POSTs: each row is written before its POST and completed after it.
create table attempts (
  event_id uuid not null references deliveries,
  number int not null,
  round int not null,
  trigger text not null
    constraint attempts__trigger check (trigger in ('schedule', 'admin', 'application')),
  -- Temporal's clock, which a test can skip; started_at and completed_at are real time.
  scheduled_at timestamptz not null,
  started_at timestamptz not null,
  completed_at timestamptz,
  duration_ms int,
  response_status int,
  error_class text,
  error text,
  response_body text,
  response_truncated boolean,
  primary key (event_id, number)
);
-- A purge deletes old response bodies, oldest first.
create index attempts__bodies on attempts (completed_at) where response_body is not null;

-- Replays of many events. The API writes the row for an application, an operator's surface for an operator; a
-- workflow works it off. The columns from application to event_ids are the filter of postgres/webhooks/delivery-filter.ts.
create table replays (
  id text primary key,
  -- Null: every application, or both modes. Only an operator's replay spans them.
  application text references applications,
  test boolean,
  trigger text not null default 'application'
    constraint replays__trigger check (trigger in ('admin', 'application')),
  delivery text not null
    constraint replays__delivery check (delivery in ('undelivered', 'failing', 'exhausted', 'delivered')),
  -- Null: every kind.
  kind text,
  -- Null: from the first event on. Only an operator's replay is without.
  from_at timestamptz,
  to_at timestamptz not null,
  -- The events that an operator has selected; null: every one that matches.
  event_ids uuid[],
  -- Only deliveries whose last attempt failed so; null: every one.
  error_class text,
  -- Null: the published rate.
  per_second int constraint replays__per_second check (per_second between 1 and 100),
  status text not null default 'running'
    constraint replays__status check (status in ('running', 'done', 'stopped')),
  stop_requested boolean not null default false,
  matched int not null,
  begun int not null default 0,
  refused int not null default 0,
  -- The last event that was replayed or refused.
  position_at timestamptz,
  position_id uuid,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  constraint replays__ended check ((status = 'running') = (ended_at is null)),
  constraint replays__owner check (
    trigger = 'admin' or (application is not null and test is not null and from_at is not null))
);
-- One at a time for the same owner. The events of a selection fit on one page, so it ends within a minute.
create unique index replays__running on replays (application, test, trigger) nulls not distinct
  where status = 'running' and event_ids is null;
create index replays__created_at on replays (created_at desc);

-- The result of a replay for each event, in its order. A purge of the event leaves the row, which then shows nothing.
create table replay_results (
  replay_id text not null references replays on delete cascade,
  number int not null,
  event_id uuid not null,
  -- False: the event had another status when its turn came.
  begun boolean not null,
  primary key (replay_id, number)
);

-- Signed samples that applications had sent to their own webhook URL. Here, and not in Temporal's history, is
-- what the receiver answered. The next test of the application deletes rows
-- that are older than a day, and a purge deletes the rest.
create table webhook_tests (
  id uuid primary key,
  application text not null references applications,
  kind text not null,
  requested_at timestamptz not null default now(),
  traceparent text constraint webhook_tests__traceparent check (length(traceparent) = 55),
  sent text,
  completed_at timestamptz,
  duration_ms int,
  response_status int,
  error_class text,
  response_body text,
  response_truncated boolean
);
create index webhook_tests__application on webhook_tests (application, requested_at);

-- How well the receiver of an application takes the events of a mode, which the sweeper finds out. Without a row it was
-- never unwell, or nothing is left that shows it.
create table receivers (
  application text not null references applications,
  test boolean not null,
  state text not null constraint receivers__state check (state in ('ok', 'failing', 'exhausted')),
  -- When the state began.
  since timestamptz not null,
  primary key (application, test)
);

-- The addresses of an application's people, at most five. Each agrees by a link before it gets another mail.
create table notice_addresses (
  application text not null references applications,
  address text not null constraint notice_addresses__address
    check (octet_length(address) <= 254 and address ~ '^[!-?A-~]+@[!-?A-~]+$'),
  added_at timestamptz not null default now(),
  confirmed_at timestamptz,
  unsubscribed_at timestamptz,
  primary key (application, address)
);

-- The links in mails to an address, by the hash of their token.
create table notice_links (
  hash bytea primary key,
  application text not null,
  address text not null,
  sent_at timestamptz not null default now(),
  constraint notice_links__address foreign key (application, address) references notice_addresses on delete cascade
);
create index notice_links__address on notice_links (application, address);

-- When a removed address was last asked, for a day, and whether it has ended notices. The address itself is forgotten.
create table removed_notice_addresses (
  hash bytea not null,
  application text not null references applications,
  asked_at timestamptz not null,
  ended_at timestamptz,
  primary key (hash, application)
);
create function hash_of_address(address text) returns bytea immutable
return sha256(convert_to(address, 'UTF8'));
create function remember_removed_address() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  delete from removed_notice_addresses where ended_at is null and asked_at < now() - interval '1 day';
  insert into removed_notice_addresses (hash, application, asked_at, ended_at)
  values (hash_of_address(old.address), old.application, coalesce((
    select max(n.created_at) from notices n
    where (n.application, n.address, n.kind) = (old.application, old.address, 'confirmation')), old.added_at), old.unsubscribed_at)
  on conflict (hash, application) do update set asked_at = excluded.asked_at;
  return old;
end
$$;
revoke execute on function remember_removed_address() from public;
create trigger notice_addresses__removed before delete on notice_addresses
  for each row execute function remember_removed_address();

-- The link of a mail alone lets somebody agree or end: no role writes these columns.
create function confirmable_until(added_at timestamptz) returns timestamptz immutable
return added_at + interval '7 days';
create function agree_to_notices(token text) returns boolean language plpgsql volatile
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update notice_addresses a set confirmed_at = coalesce(a.confirmed_at, now())
  from notice_links l
  where l.hash = sha256(convert_to(token, 'UTF8')) and (l.application, l.address) = (a.application, a.address)
    and a.unsubscribed_at is null and (a.confirmed_at is not null or now() <= confirmable_until(a.added_at));
  return found;
end
$$;
revoke execute on function agree_to_notices(text) from public;
create function end_notices(token text) returns boolean language plpgsql volatile
  security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update notice_addresses a set unsubscribed_at = coalesce(a.unsubscribed_at, now())
  from notice_links l
  where l.hash = sha256(convert_to(token, 'UTF8')) and (l.application, l.address) = (a.application, a.address);
  return found;
end
$$;
revoke execute on function end_notices(text) from public;

-- The notices to the people of an application about its live receiver: one mail to one address about one change, or about
-- one day. The sweeper writes rows and deletes them after a week; an activity claims them and sends them.
create table notices (
  application text not null references applications,
  kind text not null
    constraint notices__kind check (kind in ('confirmation', 'failing', 'exhausted', 'recovered', 'digest')),
  -- When the state began that the notice tells of; of a digest, when its day began.
  state_since timestamptz not null,
  address text not null,
  created_at timestamptz not null,
  -- When the next try is due; null: the notice is finished.
  next_try_at timestamptz,
  tries int not null default 0,
  -- Written before the mail is sent.
  claimed_at timestamptz,
  -- unknown: a crash came between the claim and the answer of the mail server.
  result text constraint notices__result check (result in ('sent', 'refused', 'failed', 'unknown')),
  primary key (application, kind, state_since, address),
  constraint notices__address foreign key (application, address) references notice_addresses on delete cascade
);
create index notices__address on notices (application, address, created_at);
create index notices__due on notices (next_try_at) where next_try_at is not null;

-- The last gateway calls of each payment, for admins. No credentials, no card data.
create table gateway_exchanges (
  payment_id text not null references payments on delete cascade,
  id bigint generated always as identity,
  -- The refund that the call was about; null: the payment itself.
  refund_id text,
  -- Whom an opening asked, else the gateway of the payment.
  gateway text not null,
  at timestamptz not null,
  operation text not null,
  result text not null,
  -- The gateway's own code, and its message or the reason why there is none.
  code text,
  message text,
  duration_ms int not null,
  primary key (payment_id, id)
);
-- The calls of a gateway by hour, its last answer, and the first call without one since then.
create index gateway_exchanges__gateway on gateway_exchanges (gateway, result, at);

-- Late payments: money that a gateway captured although the payment had ended without it.
create table late_payments (
  payment_id text primary key references payments,
  found_at timestamptz not null,
  -- What the gateway said that it captured; null: not known, or nothing yet.
  amount bigint,
  currency text,
  -- The number of calls that asked the gateway to reverse the money, and the last one's time. Written
  -- before each call.
  reversals int not null default 0,
  reversal_at timestamptz,
  -- returns: the gateway returns the money without a call; reversed: it was returned after a call; by_hand: a
  -- person must look; null: not resolved yet.
  result text constraint late_payments__result check (result in ('returns', 'reversed', 'by_hand')),
  resolved_at timestamptz,
  -- When a person said that the money was looked after.
  checked_at timestamptz,
  constraint late_payments__resolved check ((result is null) = (resolved_at is null))
);
create index late_payments__to_check on late_payments (found_at) where result = 'by_hand' and checked_at is null;

-- The sandbox gateway's own records: the provider's side of a sandbox payment.
create table sandbox_payments (
  reference text primary key,
  payment_id text not null constraint sandbox_payments__payment_id unique,
  amount bigint not null,
  currency text not null,
  return_url text not null,
  state text not null constraint sandbox_payments__state
    check (state in ('open', 'paid', 'verified', 'refused', 'cancelled', 'expired')),
  refusal text,
  tracking_code text,
  card_pan_masked text,
  -- The number of verify calls that the gateway received.
  verifications int not null default 0,
  -- The number of those calls that found the payment paid.
  confirmations int not null default 0,
  verified_at timestamptz,
  -- Of a test that asked for it: the gateway does not answer until then, or loses its first confirmation.
  silent_until timestamptz,
  lose_confirmation boolean not null default false,
  -- A test's plan: the payer acts at this time unless a person has chosen before. Infinity: never; null: no plan.
  acts_at timestamptz,
  -- What the act makes of an open payment; the state above stays open.
  planned_state text constraint sandbox_payments__planned_state
    check (planned_state in ('paid', 'refused', 'cancelled', 'expired')),
  returns boolean not null default false,
  -- The payer pays after the gateway has closed the payment.
  pays_late boolean not null default false,
  -- The payer's bank disputes the payment once it is verified, and for so long.
  dispute text constraint sandbox_payments__dispute check (dispute in ('dispute_won', 'dispute_lost', 'inquiry_closed')),
  dispute_seconds int,
  -- Of a test payment: the sealed row of `payers`, for the gateway's page. It goes at the payment's end, or after 25 hours.
  payer text,
  created_at timestamptz not null default now()
);
create index sandbox_payments__payer on sandbox_payments (created_at) where payer is not null;
create index sandbox_payments__book on sandbox_payments (verified_at) where verified_at is not null;

-- The sandbox gateway's own records of refunds.
create table sandbox_refunds (
  reference text primary key,
  -- Null for a refund that was made at the gateway's dashboard.
  refund_id text constraint sandbox_refunds__refund_id unique,
  payment_id text not null,
  amount bigint not null,
  -- A test's plan. Time counts from when the gateway took the refund on.
  outcome text not null constraint sandbox_refunds__outcome
    check (outcome in ('succeeded', 'pending', 'waiting_for_balance', 'failed', 'returned', 'refused', 'whole_only',
      'answer_lost', 'request_lost')),
  failure_code text,
  after_seconds int not null default 0,
  -- The number of times that the gateway was told.
  times_told int not null default 0,
  -- Null until the gateway takes it on, and for one that it refuses.
  accepted_at timestamptz,
  created_at timestamptz not null default now()
);
create index sandbox_refunds__payment on sandbox_refunds (payment_id);
create index sandbox_refunds__book on sandbox_refunds (accepted_at) where accepted_at is not null;

-- Every change that an admin makes, written in the transaction of the change.
create table audit_log (
  -- One more than the record before, so a deleted record leaves a gap.
  id bigint primary key,
  at timestamptz not null default now(),
  -- The name from the admin's environment, not a login; or service.
  actor text not null,
  action text not null,
  -- Kind and id of the thing that changed, for example payment:PAY_….
  subject text not null,
  before jsonb,
  after jsonb,
  reason text,
  -- The way in which a person made the change; null for the service.
  via text constraint audit_log__via check (via in ('cli', 'console')),
  -- The hash covers this record and the hash of the record before, see audit_hash.
  hash bytea not null
);
create index audit_log__subject on audit_log (subject, id desc);
create index audit_log__actor on audit_log (actor, id desc);
create index audit_log__at on audit_log (at);
-- A purge empties old reasons.
create index audit_log__reasons on audit_log (at) where reason is not null;
-- One record for each payment that had paid the order, and for each tracking code, however often they come again.
create unique index audit_log__duplicate on audit_log ((after->>'duplicate_of'))
  where action = 'payment.duplicate';
create unique index audit_log__duplicate_tracking_code
  on audit_log ((after->>'gateway'), (after->>'tracking_code'))
  where action = 'payment.duplicate_tracking_code';
-- One record of refused logins for each way and hour: anybody can try, and nothing deletes records.
create unique index audit_log__refused_login
  on audit_log ((after->>'login'), (after->>'hour'))
  where action = 'console.refuse_login';

-- The transaction that writes a record locks the row until it ends: records commit in the order of their chain. No
-- role can lock it but by writing a record.
create table audit_chain (
  id boolean primary key
);
insert into audit_chain (id) values (true);
-- The reason of a record is free text: the chain has a hash of it and of a salt. So a purge can empty
-- an old reason with its salt, the chain stays whole, and nobody can try whether a text was the reason.
create table audit_reasons (
  record bigint primary key,
  -- Null: the reason was purged.
  salt uuid,
  hash bytea not null
);
create function reason_hash(salt uuid, reason text) returns bytea immutable
return sha256(convert_to(salt::text || ' ' || reason, 'UTF8'));
-- `audit --verify` calculates it again.
create function audit_hash(previous bytea, record audit_log) returns bytea stable
return sha256(previous || convert_to(jsonb_build_array(record.id, extract(epoch from record.at), record.actor,
  record.action, record.subject, record.before, record.after,
  (select r.hash from audit_reasons r where r.record = record.id), record.via)::text, 'UTF8'));
-- As the owner, because those who write the log may not read it.
create function chain_audit_record() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  previous record;
  salt uuid := gen_random_uuid();
begin
  perform from audit_chain for update;
  select id, hash into previous from audit_log order by id desc limit 1;
  new.id := coalesce(previous.id, 0) + 1;
  if new.reason is not null then
    -- There is one already if a conflict has dropped the record.
    insert into audit_reasons (record, salt, hash) values (new.id, salt, reason_hash(salt, new.reason))
    on conflict (record) do update set salt = excluded.salt, hash = excluded.hash;
  end if;
  new.hash := audit_hash(coalesce(previous.hash, ''), new);
  return new;
end
$$;
create trigger audit_log__chain before insert on audit_log
  for each row execute function chain_audit_record();

-- The triggers make the audit log append-only. The owner could drop them, so the service runs as other roles,
-- see deploy/roles.sql.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'insufficient_privilege';
end
$$;
-- But a purge empties old reasons.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.reason is null and to_jsonb(new) - 'reason' = to_jsonb(old) - 'reason' then
    return new;
  end if;
  raise exception '% is append-only', tg_table_name using errcode = 'insufficient_privilege';
end
$$;
create trigger audit_log__append_only before update or delete on audit_log
  for each row execute function refuse_audit_change();
create trigger audit_log__no_truncate before truncate on audit_log
  for each statement execute function refuse_change();

-- Accounts: what moved the money of a gateway's account. One row for each movement, written by triggers in the
-- transaction of what moved it, and never changed. Rows outlive a purge of the payment.
create table movements (
  -- The kind and the payment, the refund, or the gateway's own entry: a movement is recorded once. Its order is that of
  -- the bytes, because the hash of a day must not depend on a language.
  id text collate "C" primary key,
  kind text not null constraint movements__kind check (kind in ('payment', 'refund', 'refund_elsewhere',
    'refund_returned', 'late_payment', 'late_reversal', 'fee', 'chargeback', 'chargeback_returned', 'payout',
    'payout_returned')),
  gateway text not null references gateways,
  -- The day of the account's time zone on which it was recorded. A closed day gets no more movements.
  day date not null,
  payment_id text,
  refund_id text,
  -- Null with order_id for a fee that belongs to no payment.
  application text,
  test boolean not null,
  order_id text,
  -- In minor units; negative for money that leaves the account.
  amount bigint not null,
  currency text not null,
  -- The gateway's own id of the payment, the refund, or the entry.
  reference text,
  occurred_at timestamptz(3) not null,
  recorded_at timestamptz(3) not null default now()
);
create index movements__day on movements (gateway, day, id);
-- A list without a kind reads the beginning of one range for each kind, see accounts/movements.ts.
create index movements__list on movements (application, test, kind, recorded_at desc, id desc);
create index movements__payment on movements (payment_id) where payment_id is not null;

-- The days of each gateway that were compared with its own book. A closed day is final.
create table account_days (
  gateway text not null references gateways,
  day date not null,
  -- list: with the list of the gateway; each: by asking about each movement.
  method text not null constraint account_days__method check (method in ('list', 'each')),
  -- Null until it is closed.
  movements int,
  compared_at timestamptz not null,
  closed_at timestamptz,
  -- Covers the movements of the day and the hash of the day before, see accounts/hash.ts.
  hash bytea,
  -- The sums of its movements, so that a month needs not all of them.
  sums jsonb,
  primary key (gateway, day),
  constraint account_days__closed check (num_nulls(closed_at, hash, movements, sums) in (0, 4))
);

-- The gateways' own books, as their lists or answers show them.
create table gateway_entries (
  gateway text not null references gateways,
  -- The gateway's own id of the transaction; for an answer, the id of the movement that the gateway was asked about.
  id text not null,
  -- An answer of the gateway, for a movement that its list does not show.
  asked boolean not null default false,
  -- Of answers alone: absent, the gateway does not have the movement; unanswered, it gave no usable answer.
  kind text not null constraint gateway_entries__kind
    check (kind in ('payment', 'payment_failed', 'refund', 'refund_returned', 'chargeback', 'fee', 'payout',
      'payout_returned', 'own_money', 'other', 'absent', 'unanswered')),
  -- The gateway's own name of such an entry.
  name text,
  -- The gateway's id of the charge or the refund that it is of. One may have several transactions.
  source text,
  -- The day of the account's time zone, or the one whose comparison found an entry of a closed day or of the future.
  day date not null,
  at timestamptz not null,
  -- Signed, as that of a movement; before the fee.
  amount bigint not null,
  currency text not null,
  fee bigint,
  -- The payment and the refund here; null if there is none.
  payment_id text,
  refund_id text,
  -- The id of ours that the gateway carries, whether or not it is here.
  claimed_payment_id text,
  -- The gateway's number of the payment. One whose money nobody has found here has none: other entries with this number
  -- lead to it.
  tracking_code text,
  -- When the gateway's list had it last.
  read_at timestamptz not null default now(),
  constraint gateway_entries__asked check (asked or kind not in ('absent', 'unanswered')),
  primary key (gateway, id)
);
create index gateway_entries__day on gateway_entries (gateway, day, id);
create index gateway_entries__tracking_code on gateway_entries (gateway, tracking_code) where tracking_code is not null;
create index gateway_entries__source on gateway_entries (gateway, source) where source is not null;
create index gateway_entries__payment on gateway_entries (payment_id) where payment_id is not null;

-- The statements of accounts: every line of a gateway's list, in the currency of its balance. Of a gateway without one: what
-- it tells of its payouts.
create table statement_lines (
  gateway text not null references gateways,
  -- The gateway's own id, that of its entry in gateway_entries.
  id text not null,
  -- As that of gateway_entries; null for what a payout alone shows, which is no statement.
  day date,
  at timestamptz not null,
  -- As those of gateway_entries.
  kind text not null,
  -- The gateway's own words.
  type text not null,
  category text,
  amount bigint not null,
  fee bigint not null,
  net bigint not null generated always as (amount - fee) stored,
  currency text not null,
  available_on timestamptz,
  -- As that of gateway_entries, or without a list the gateway's id of the payment.
  source text,
  -- The gateway's id of the payout that it is, or without a list of all money, that has paid it out.
  payout text,
  -- When the gateway's list had it last.
  read_at timestamptz not null default now(),
  primary key (gateway, id)
);
create index statement_lines__day on statement_lines (gateway, day, id);
create index statement_lines__payout on statement_lines (gateway, payout, id) where payout is not null;

-- The lines that payouts have paid out, as the gateway lists them. The statement has them before or after that.
create table payout_lines (
  gateway text not null references gateways,
  -- Of the line.
  id text not null,
  payout text not null,
  primary key (gateway, id)
);
create index payout_lines__payout on payout_lines (gateway, payout, id);

-- Money that went from the balance to the bank account of the owner, as the gateway reports it.
create table payouts (
  gateway text not null references gateways,
  -- The gateway's own id.
  id text not null,
  -- In minor units; negative for money that comes from the bank.
  amount bigint not null,
  currency text not null,
  status text not null default 'on_its_way' constraint payouts__status
    check (status in ('on_its_way', 'paid', 'failed', 'cancelled')),
  created_at timestamptz not null,
  -- The day on which the bank should have it.
  arrives_on date,
  -- The text and the number of the bank statement's line.
  descriptor text,
  bank_reference text,
  -- Whether the gateway lists what it has paid out. never: the owner has chosen the amount, or the gateway tells no more.
  lines text not null default 'later' constraint payouts__lines check (lines in ('listed', 'later', 'never')),
  -- Where its list goes on, and when all of it was read.
  position text,
  read_at timestamptz,
  -- What the gateway reported otherwise after it was booked, and the day whose comparison found the last of it.
  differs text[],
  differs_on date,
  -- When the sweeper looks at it again; null: nothing changes any more.
  due_at timestamptz,
  primary key (gateway, id)
);
create index payouts__differs on payouts (gateway, differs_on) where differs_on is not null;
create index payouts__due on payouts (due_at) where due_at is not null;
create index payouts__created on payouts (created_at desc, gateway, id);
create index payouts__amount on payouts (amount, currency);
create index payouts__bank_reference on payouts (bank_reference) where bank_reference is not null;
create index payouts__descriptor on payouts (upper(descriptor));

-- The balance of an account at the end of each day that was compared, in minor units.
create table account_balances (
  gateway text not null references gateways,
  day date not null,
  currency text not null,
  -- Null until the gateway has reported a first balance.
  opening bigint,
  -- The sum of the day's lines.
  net bigint,
  -- What the gateway reports; null: nothing.
  reported bigint,
  primary key (gateway, day, currency)
);

-- The findings of comparisons. A later one that does not find it again marks it as mended.
create table account_differences (
  id bigint generated always as identity primary key,
  gateway text not null references gateways,
  day date not null,
  kind text not null,
  -- The movement, or the gateway's entry.
  subject text not null,
  payment_id text,
  refund_id text,
  application text,
  -- Of money that is not paid here: whether the workflow of its payment runs. Null: not asked.
  workflow_runs boolean,
  -- Null on the side that has nothing.
  our_amount bigint,
  our_currency text,
  our_time timestamptz,
  their_amount bigint,
  their_currency text,
  their_time timestamptz,
  -- The gateway's own name of an entry of a kind that is unknown here, or its id of the charge or the refund.
  their_name text,
  state text not null default 'open'
    constraint account_differences__state check (state in ('open', 'explained', 'mended')),
  -- An admin's own words.
  reason text,
  found_at timestamptz not null default now(),
  -- When a comparison last found it.
  seen_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz,
  constraint account_differences__subject unique (gateway, kind, subject)
);
create index account_differences__day on account_differences (gateway, day, id);
create index account_differences__reasons on account_differences (changed_at) where reason is not null;
create index account_differences__open on account_differences (found_at) where state = 'open';

-- Writes every movement but the fees, chargebacks and payouts of a gateway's list. Triggers call it when a row of payments, refunds or late_payments says
-- that money moved, so the movement commits with that row, whatever wrote it. Each trigger names the whole kind, and a
-- search for a kind finds its writer. The arguments: the kind, the column of the time, the sign, and the column of the
-- amount unless it is `amount`. The function reads the row as JSON, because the tables have different columns. It runs as the owner, because no role but the worker may
-- insert movements, and that one only what a gateway's book shows. Money that was never captured cannot be reversed.
create function record_movement() returns trigger language plpgsql
  security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  changed jsonb := to_jsonb(new);
  refund text := case when tg_table_name = 'refunds' then changed->>'id' end;
  kind text := tg_argv[0];
begin
  insert into movements (id, kind, gateway, day, payment_id, refund_id, application, test, order_id, amount, currency,
    reference, occurred_at)
  select kind || ':' || coalesce(refund, p.id), kind, p.gateway, open_day(p.gateway, now()), p.id, refund,
    p.application, p.test, p.order_id, tg_argv[2]::int * coalesce((changed->>coalesce(tg_argv[3], 'amount'))::bigint, p.amount),
    coalesce(changed->>'currency', p.currency),
    case when refund is null then p.gateway_reference else changed->>'gateway_reference' end,
    (changed->>tg_argv[1])::timestamptz
  from payments p
  where p.id = coalesce(changed->>'payment_id', changed->>'id')
    and (kind <> 'late_reversal' or exists (select from movements m where m.id = 'late_payment:' || p.id))
    and (kind <> 'fee' or exists (select from gateways g where g.slug = p.gateway and g.fees_reported))
  on conflict (id) do nothing;
  return null;
end
$$;
-- Whoever may create a trigger on a table of their own could otherwise book what they like. Firing needs no right.
revoke execute on function record_movement() from public;
-- The day of the account's time zone at a time, or the first one that is not closed. What a gateway dates in the future is of today.
create function open_day(account text, at timestamptz) returns date stable
return (
  select greatest((least(at, now()) at time zone g.time_zone)::date,
    (select max(d.day) + 1 from account_days d where d.gateway = account and d.closed_at is not null))
  from gateways g where g.slug = account);
create trigger payments__movement after insert or update of status on payments
  for each row when (new.status = 'paid') execute function record_movement('payment', 'paid_at', '1');
create trigger payments__reported_fee after insert or update of status on payments
  for each row when (new.status = 'paid' and new.reported_fee > 0 and new.reported_fee_paid_by = 'merchant')
  execute function record_movement('fee', 'paid_at', '-1', 'reported_fee');
create trigger refunds__movement after insert or update of status on refunds
  for each row when (new.status = 'succeeded' and new.method = 'refund')
  execute function record_movement('refund', 'succeeded_at', '-1');
create trigger refunds__recorded after insert or update of status on refunds
  for each row when (new.status = 'succeeded' and new.method = 'recorded')
  execute function record_movement('refund_elsewhere', 'succeeded_at', '-1');
create trigger refunds__returned after update of status on refunds
  for each row when (old.status = 'succeeded' and new.status = 'failed')
  execute function record_movement('refund_returned', 'failed_at', '1');
create trigger late_payments__movement after insert or update of result on late_payments
  for each row when (new.result is null) execute function record_movement('late_payment', 'found_at', '1');
create trigger late_payments__reversed after insert or update of result on late_payments
  for each row when (new.result = 'reversed') execute function record_movement('late_reversal', 'resolved_at', '-1');

create function refuse_closed_day() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
begin
  -- No day before a closed one is open: the hashes would not cover the movement.
  if exists (select from account_days d where d.gateway = new.gateway and d.day >= new.day and d.closed_at is not null)
  then raise exception 'the day is closed' using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;
create trigger movements__day before insert on movements
  for each row execute function refuse_closed_day();
create trigger movements__append_only before update or delete on movements
  for each row execute function refuse_change();
create trigger movements__no_truncate before truncate on movements
  for each statement execute function refuse_change();
create trigger account_days__final before update of gateway, day, movements, closed_at, hash, sums or delete on account_days
  for each row when (old.closed_at is not null) execute function refuse_change();
-- A closed day that is not over would move every later movement behind it.
create function refuse_early_close() returns trigger language plpgsql
  set search_path = pg_catalog, public, pg_temp as $$
begin
  if (new.day + 1)::timestamp at time zone (select g.time_zone from gateways g where g.slug = new.gateway) > now()
  then raise exception 'the day is not over' using errcode = 'insufficient_privilege';
  end if;
  return new;
end
$$;
create trigger account_days__over before update of closed_at on account_days
  for each row when (old.closed_at is null and new.closed_at is not null) execute function refuse_early_close();

-- The part of a movement in the hash of its day, see accounts/hash.ts. `accounts verify` calculates it again.
create function movement_hash(m movements) returns bytea stable
return sha256(convert_to(jsonb_build_array(m.id, m.kind, m.payment_id, m.refund_id, m.application, m.test, m.order_id,
  m.amount, m.currency, m.reference, extract(epoch from m.occurred_at), extract(epoch from m.recorded_at))::text, 'UTF8'));

-- The people who may enter the web console, with the one role of each. The command line writes them. The console
-- writes only the account at the identity provider that a person has.
create table console_people (
  name text primary key,
  role text not null constraint console_people__role check (role in ('viewer', 'operator', 'admin')),
  -- The role is for these applications and nothing else. Null: for the whole service, as always for an admin.
  applications text[],
  -- In lower case. An account of the identity provider with this address becomes the person's at its first login.
  email text constraint console_people__email unique,
  -- From then on only this account is the person: an address may get another owner. A subject without an issuer
  -- is that of an account that has not logged in yet.
  issuer text,
  subject text,
  -- When the account last logged in. A passkey of its person counts for seven days from then.
  account_seen_at timestamptz,
  created_at timestamptz not null default now(),
  constraint console_people__applications check (
    applications is null or (cardinality(applications) between 1 and 20 and role <> 'admin')),
  constraint console_people__account unique (issuer, subject)
);
create unique index console_people__invited on console_people (subject) where issuer is null;

-- One-time links that open the web console, made by the command line. Only the hash of a link's code is stored.
create table console_links (
  hash bytea primary key,
  name text not null references console_people on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '15 minutes',
  -- Somebody ended the person's sessions before the link was opened.
  ended_at timestamptz
);

-- Logins to the web console. The role of somebody is in console_people, which the console cannot write. A link
-- opens one session: its hash is unique.
create table console_sessions (
  hash bytea primary key,
  name text not null references console_people on delete cascade,
  via text not null constraint console_sessions__via check (via in ('link', 'provider', 'passkey')),
  link bytea constraint console_sessions__link unique references console_links on delete cascade,
  created_at timestamptz not null default now(),
  -- When the person proved who they are. Null if the identity provider does not say when it asked them.
  proved_at timestamptz default now(),
  -- When its person last asked for a page. Pages that refresh themselves do not count.
  seen_at timestamptz not null default now(),
  ended_at timestamptz
);

-- Passkeys: their public keys, and the number of uses that each one last reported.
create table console_passkeys (
  id bytea primary key,
  name text not null references console_people on delete cascade,
  label text not null,
  public_key bytea not null,
  counter bigint not null,
  created_at timestamptz not null default now(),
  used_at timestamptz
);

-- Logins that a browser has begun at the identity provider or with a passkey, and that have ended. The browser has
-- the secret in a cookie; state, nonce, PKCE verifier and challenge derive from it. It counts once, and for ten minutes.
create table console_ended_logins (
  hash bytea primary key,
  created_at timestamptz not null default now()
);

-- Lists with their filters that people of the console have given names.
create table console_views (
  person text not null references console_people on delete cascade,
  name text not null,
  address text not null,
  primary key (person, name)
);

-- The last requests of each application that the API refused, for its developers. The API keeps 100 of each
-- application and mode.
create table refused_requests (
  -- X-Request-Id.
  id text primary key,
  application text not null references applications,
  -- The mode of its token: the API knows nobody's application without one.
  test boolean not null,
  at timestamptz not null default now(),
  method text not null,
  -- The route's pattern: a path can hold anything.
  route text not null,
  status int not null,
  code text not null,
  -- As in the response: what is wrong with which field.
  fields jsonb
);
create index refused_requests__application on refused_requests (application, test, at desc);

-- What somebody or cron has to do again and again, and when it last came to its end. At first that is the time of the
-- installation, so the alerts about it wait for the first time.
create table upkeep (
  task text primary key constraint upkeep__task check (task in ('backup', 'purge')),
  done_at timestamptz not null default now()
);
insert into upkeep (task) values ('backup'), ('purge');
