-- no-transaction: built beside the work that goes on.
-- As for deliveries: first what was never healed.
create index concurrently payments__to_heal on payments (healed_at nulls first, expires_at)
  where status in ('pending', 'processing')
