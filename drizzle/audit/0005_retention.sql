-- What was declared as dropped (apps/audit/README.md, Retention): an entry of each chain that had events in the month.
-- It has the next place in its chain, and is made while the events are still there.
create table audit.retentions (
  chain_id bigint not null,
  position bigint not null,
  month text collate "C" not null,
  declared_at timestamptz(3) not null,
  -- the places that the events had, and the chain at the end of each run of them
  ranges json not null,
  chain bytea not null,
  salt bytea not null,
  primary key (chain_id, position)
);
--> statement-breakpoint
create index retentions_of_month on audit.retentions (month);
--> statement-breakpoint
create trigger no_change before update or delete or truncate on audit.retentions
  for each statement execute function audit.refuse_change();
--> statement-breakpoint
-- Months before this one were dropped when nothing was declared yet; null where none were.
alter table audit.sealer add column undeclared_before timestamptz(3);
--> statement-breakpoint
update audit.sealer set undeclared_before =
  (select date_trunc('month', coalesce(min(occurred_at), now()) at time zone 'UTC') at time zone 'UTC' from audit.audit_events)
where exists (select from audit.entries);
