-- One that is pending and due at no time would be found by nobody, and one that is over is not due.
-- Of the rows that are there, the next file: to read them under this file's lock would stop all others.
alter table deliveries add constraint deliveries__due
  check ((status = 'pending') = (next_attempt_at is not null)) not valid;
