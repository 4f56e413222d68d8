-- The last calls to gateways about each payment, for admins. No credentials, no card data.
create table gateway_exchanges (
  payment_id text not null references payments on delete cascade,
  id bigint generated always as identity,
  at timestamptz not null,
  operation text not null,
  result text not null,
  -- The gateway's own words, or why there are none.
  code text,
  message text,
  duration_ms int not null,
  primary key (payment_id, id)
);
