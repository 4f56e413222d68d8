-- A tracking code that comes twice on one account is told to admins. No constraint: it would keep a
-- payment from ever being settled.
create index payments__tracking_code on payments (gateway, tracking_code)
  where tracking_code is not null;
