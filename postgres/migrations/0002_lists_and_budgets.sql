-- One for each way of listing: what is filtered by equality, then the order of the list. Dates are
-- ranges on created_at, so every combination of filters reads one short piece of one of these.
create index payments__list on payments (application, test, created_at desc, id desc);
create index payments__list_by_status
  on payments (application, test, status, created_at desc, id desc);
create index payments__list_by_order
  on payments (application, test, order_id, created_at desc, id desc);
create index payments__list_by_order_and_status
  on payments (application, test, order_id, status, created_at desc, id desc);

alter table applications add column requests_per_minute int not null default 120
  constraint applications__requests_per_minute check (requests_per_minute > 0);

-- Requests of the current clock minute. Unlogged: a count that a crash loses begins anew.
create unlogged table request_counts (
  application text primary key,
  -- Minutes since 1970.
  minute bigint not null,
  requests int not null
) with (fillfactor = 50);
