-- The operator who wrote a revision, with the reason and the link that the operator gave. Revisions of earlier
-- versions and of seeds have none.
alter table routes.revisions
  add column operator text,
  add column reason text,
  add column link text;
--> statement-breakpoint
-- All writes of all services, newest first, and those of one operator.
create index revisions_newest on routes.revisions (created_at, service, revision);
--> statement-breakpoint
create index revisions_of_operator on routes.revisions (operator, created_at, service, revision);
