-- After a restore, in the database of the payments, before any worker runs: docs/operating/restoring.md.
-- All logins end, because some were ended after the backup. A begun login ends with its console process.
\set ON_ERROR_STOP on
begin;
update console_sessions set ended_at = now() where ended_at is null;
update console_links set ended_at = now() where ended_at is null;
commit;
\echo 'Open payments whose payer may have gone to the gateway since the backup. The service will ask the gateways about them:'
-- In a backup all payments are older than the loss, and any of them may be paid by now.
update payments set checkout_at = created_at
where status in ('pending', 'processing') and gateway_reference is not null and checkout_at is null
returning application, id, order_id, gateway;
