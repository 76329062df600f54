-- Who created an organization, so that a person's organizations can be counted. Null: staff created it, or it is older
-- than this column, or the account of its creator is gone.
alter table identity.organizations
  add column created_by text collate "C" references identity.users (id) on delete set null;
--> statement-breakpoint
create index organizations_creator on identity.organizations (created_by) where created_by is not null;
