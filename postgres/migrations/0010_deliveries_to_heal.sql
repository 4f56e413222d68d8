-- no-transaction: built beside the work that goes on.
-- The sweep heals first what it has never healed: behind a backlog of others it would never come to it.
create index concurrently deliveries__to_heal on deliveries (healed_at nulls first, next_attempt_at)
  where status = 'pending'
