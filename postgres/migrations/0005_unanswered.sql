-- Whether the gateway was asked last without a usable answer: a list of unverified payments does not
-- show one whose verification succeeded and whose answer was lost.
alter table payments add column unanswered boolean not null default false;
