-- The comments are in postgres/schema.sql: a file that was applied cannot be edited.

alter table deliveries
  add column postponed_for text,
  add column postponed_at timestamptz,
  add constraint deliveries__postponed check ((postponed_for is null) = (postponed_at is null));
create index deliveries__postponed on deliveries (postponed_for, postponed_at)
  where postponed_for is not null;
