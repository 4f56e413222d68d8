-- The trace that the caller of the create sent, for whoever starts the workflow instead of the API.
alter table unstarted add column trace_id text;
