-- A gateway is asked only about payers who were sent to it: whoever could take that back would have a
-- payment expire that was paid.
create function refuse_unsending() returns trigger language plpgsql as $$
begin
  raise exception 'that a payer was sent to the gateway is not taken back'
    using errcode = 'insufficient_privilege';
end
$$;
create trigger payments__checkout_stays before update of checkout_at on payments
  for each row when (old.checkout_at is not null and new.checkout_at is null)
  execute function refuse_unsending();
