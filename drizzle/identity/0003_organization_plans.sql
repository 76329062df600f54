-- The plan of an organization: a name that limits of routes refer to. Null: the organization has none.
alter table identity.organizations
  add column plan text collate "C";
--> statement-breakpoint
alter table identity.lifecycle_events drop constraint lifecycle_events_type_check;
--> statement-breakpoint
-- Not validated: the rows before it fit the narrower check that it replaces, and reading them all would hold the feed.
alter table identity.lifecycle_events add constraint lifecycle_events_type_check check (type in
  ('organization.created', 'organization.plan_changed', 'member.created', 'member.removed', 'organization.deleted'))
  not valid;
