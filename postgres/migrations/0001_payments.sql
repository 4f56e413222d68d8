-- Gateways are configured accounts at payment providers; credentials are encrypted, see secret-box.ts.
create table gateways (
  slug text primary key,
  driver text not null,
  kind text not null constraint gateways__kind check (kind in ('sandbox', 'live')),
  enabled boolean not null default true,
  credentials text,
  created_at timestamptz not null default now()
);

create table applications (
  slug text primary key,
  status text not null default 'active'
    constraint applications__status check (status in ('active', 'disabled')),
  default_gateway text not null references gateways,
  callback_urls text[] not null
    constraint applications__callback_urls check (cardinality(callback_urls) > 0),
  webhook_url text,
  created_at timestamptz not null default now()
);

-- Only the hash of a token is kept; the prefix is for logs and lists.
create table tokens (
  hash bytea primary key,
  prefix text not null,
  application text not null references applications,
  mode text not null constraint tokens__mode check (mode in ('live', 'test')),
  name text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz
);

create table webhook_secrets (
  id bigint generated always as identity primary key,
  application text not null references applications,
  ciphertext text not null,
  created_at timestamptz not null default now(),
  retires_at timestamptz
);
create index webhook_secrets__application on webhook_secrets (application);

create table payments (
  id text primary key,
  application text not null references applications,
  test boolean not null,
  order_id text not null,
  status text not null constraint payments__status
    check (status in ('pending', 'processing', 'paid', 'failed', 'cancelled', 'expired')),
  amount bigint not null constraint payments__amount check (amount between 1 and 999999999999),
  currency text not null,
  gateway text not null references gateways,
  description text,
  callback_url text not null,
  -- Text, not jsonb: it is returned as it was sent.
  metadata text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  gateway_reference text,
  gateway_redirect jsonb,
  -- When the payer was last sent to the gateway, and when the gateway was last asked without result.
  checkout_at timestamptz,
  asked_at timestamptz,
  tracking_code text,
  card_pan_masked text,
  paid_at timestamptz,
  failure_code text,
  -- What the gateway itself said, for admins only.
  gateway_code text,
  gateway_message text,
  healed_at timestamptz,
  constraint payments__gateway_reference unique (gateway, gateway_reference),
  constraint payments__paid check ((status = 'paid') = (paid_at is not null)),
  constraint payments__failed check ((status = 'failed') = (failure_code is not null))
);
-- The sweep's two questions: whose payer is on the way, and what should have ended by now.
create index payments__on_their_way on payments (gateway, coalesce(asked_at, checkout_at))
  where checkout_at is not null and status in ('pending', 'processing');
create index payments__not_ended on payments (expires_at) where status in ('pending', 'processing');

-- Payments whose workflow is not known to run yet; short-lived rows.
create table unstarted (
  payment_id text primary key references payments,
  created_at timestamptz not null
);
create index unstarted__created_at on unstarted (created_at);

create table idempotency_keys (
  application text not null references applications,
  test boolean not null,
  route text not null,
  key text not null,
  fingerprint bytea not null,
  status int not null,
  location text not null,
  body text not null,
  expires_at timestamptz not null,
  primary key (application, test, route, key)
);
create index idempotency_keys__expires_at on idempotency_keys (expires_at);

-- One terminal event a payment; every delivery attempt sends these bytes.
create table events (
  payment_id text primary key references payments,
  id uuid not null constraint events__id unique,
  kind text not null,
  body bytea not null,
  created_at timestamptz not null
);

create table deliveries (
  payment_id text primary key references events,
  status text not null constraint deliveries__status
    check (status in ('pending', 'delivered', 'exhausted', 'none')),
  round int not null default 1,
  -- When the next attempt is due; the sweep heals what is long overdue.
  next_attempt_at timestamptz,
  -- The workflow run that used up the round: another run that finds it exhausted begins a new one.
  exhausted_by_run text,
  healed_at timestamptz
);
create index deliveries__pending on deliveries (next_attempt_at) where status = 'pending';

-- The ledger of POSTs: written before one, completed after it.
create table attempts (
  payment_id text not null references deliveries,
  number int not null,
  round int not null,
  trigger text not null constraint attempts__trigger check (trigger in ('schedule', 'admin')),
  -- The engine's own clock, which a test can skip; started_at and completed_at are real time.
  engine_scheduled_at timestamptz not null,
  started_at timestamptz not null,
  completed_at timestamptz,
  duration_ms int,
  response_status int,
  error_class text,
  error text,
  response_body text,
  response_truncated boolean,
  primary key (payment_id, number)
);

-- The sandbox gateway's own books: the provider's side of a sandbox payment.
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
  -- How often it was asked to confirm the payment.
  verifications int not null default 0,
  created_at timestamptz not null default now()
);
