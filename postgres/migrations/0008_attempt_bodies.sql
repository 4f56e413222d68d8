-- no-transaction: what receivers answered is dropped after a time, the oldest first.
create index concurrently attempts__bodies on attempts (completed_at) where response_body is not null
