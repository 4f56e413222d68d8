-- What admins change, in the same transaction as the change.
create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  -- Who: a name that the admin's surroundings give, not a login.
  actor text not null,
  action text not null,
  -- What kind of thing, and which: an application's slug, a payment's id, …
  subject text not null,
  before jsonb,
  after jsonb,
  reason text
);
create index audit_log__subject on audit_log (subject, id desc);

-- Append-only for every role that does not own the table: run migrations as the owner and the
-- service as another role. The trigger also stops a slip of the owner's hand.
create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'insufficient_privilege';
end
$$;
create trigger audit_log__append_only before update or delete on audit_log
  for each row execute function refuse_change();
create trigger audit_log__no_truncate before truncate on audit_log
  for each statement execute function refuse_change();
revoke update, delete, truncate on audit_log from public;

create index deliveries__exhausted on deliveries (payment_id) where status = 'exhausted';
