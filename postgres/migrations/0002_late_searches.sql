-- The comments are in postgres/schema.sql: a file that was applied cannot be edited.

alter table payments
  add column late_searches int not null default 0,
  add column late_searched_at timestamptz;
