-- The database and the logins of docker-compose.yml, with the passwords of ./secrets. It can be repeated:
-- what lacks is made, and every password becomes the one in its file. psql reads them itself, since
-- everybody on the machine sees a program's arguments.
\set ON_ERROR_STOP on
-- Nor may a statement that fails write its password into the server's log.
set log_min_error_statement = panic;
set log_statement = 'none';

\set temporal `cat /run/secrets/temporal-password`
\set owner `sed 's|.*//[^:]*:\(.*\)@.*|\1|' /run/secrets/owner-database-url`
\set api `sed 's|.*//[^:]*:\(.*\)@.*|\1|' /run/secrets/api-database-url`
\set worker `sed 's|.*//[^:]*:\(.*\)@.*|\1|' /run/secrets/worker-database-url`
\set webhooks `sed 's|.*//[^:]*:\(.*\)@.*|\1|' /run/secrets/webhooks-database-url`
\set admin `sed 's|.*//[^:]*:\(.*\)@.*|\1|' /run/secrets/admin-database-url`
\set console `sed 's|.*//[^:]*:\(.*\)@.*|\1|' /run/secrets/console-database-url`
\set retention `sed 's|.*//[^:]*:\(.*\)@.*|\1|' /run/secrets/retention-database-url`

select 'create database payments'
where not exists (select from pg_database where datname = 'payments') \gexec

select format('create role %I nologin', wanted)
from unnest(array['payments_api', 'payments_worker', 'payments_webhooks', 'payments_admin',
  'payments_retention', 'payments_console']) as wanted
where not exists (select from pg_roles where rolname = wanted) \gexec

select format('create role %I', wanted)
from unnest(array['temporal', 'api', 'worker', 'webhooks', 'admin', 'retention', 'console']) as wanted
where not exists (select from pg_roles where rolname = wanted) \gexec

-- Temporal's login has no business in the database of the payments.
revoke connect on database payments from public;
grant connect on database payments
  to payments_api, payments_worker, payments_webhooks, payments_admin, payments_retention, payments_console;

grant payments_api to api;
grant payments_worker to worker;
grant payments_webhooks to webhooks;
grant payments_admin to admin;
grant payments_retention to retention;
grant payments_console to console;

alter role postgres password :'owner';
alter role temporal login createdb password :'temporal';
alter role api login password :'api';
alter role worker login password :'worker';
alter role webhooks login password :'webhooks';
alter role admin login password :'admin';
alter role retention login password :'retention';
alter role console login password :'console';
