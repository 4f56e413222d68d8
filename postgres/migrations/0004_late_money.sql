-- Money that was found at a gateway after its payment had ended without being paid; one row a payment.
create table late_money (
  payment_id text primary key references payments,
  found_at timestamptz not null,
  -- How often the gateway was told to give it back, and when last: written before it is told.
  reversals int not null default 0,
  reversal_at timestamptz,
  -- returns: it goes back by itself; by_hand: somebody has to look after it; null: being worked on.
  result text constraint late_money__result check (result in ('returns', 'reversed', 'by_hand')),
  settled_at timestamptz,
  constraint late_money__settled check ((result is null) = (settled_at is null))
);
