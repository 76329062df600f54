-- The directory: people, organizations, members, credentials, invites, and the lifecycle feed. Ids are ULIDs that are
-- compared byte by byte, so `order by id` is the order of creation.
--
-- Indexes for lists of one owner's rows have the id as text_pattern_ops, and lists order by that: see
-- apps/identity/list-queries.ts.

-- People.
create table identity.users (
  id text collate "C" primary key,
  display_name text,
  status text not null check (status in ('active', 'suspended')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
--> statement-breakpoint

-- The subjects of the identity provider. One subject is at most one person. The reference is checked at commit, so that a
-- link can be claimed before its person is written.
create table identity.idp_links (
  issuer text collate "C" not null,
  subject text collate "C" not null,
  user_id text collate "C" not null references identity.users (id) deferrable initially deferred,
  created_at timestamptz(3) not null,
  primary key (issuer, subject)
);
--> statement-breakpoint
create index idp_links_user on identity.idp_links (user_id);
--> statement-breakpoint

-- Organizations. `created_by` counts the organizations of a person; null if staff created the organization, or if the
-- account of its creator is deleted. `plan` is null for an organization without a plan.
create table identity.organizations (
  id text collate "C" primary key,
  name text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text collate "C" references identity.users (id) on delete set null,
  plan text collate "C"
);
--> statement-breakpoint
create index organizations_creator on identity.organizations (created_by) where created_by is not null;
--> statement-breakpoint

-- Programs of an organization. Each has a row in `members`.
create table identity.service_accounts (
  id text collate "C" primary key,
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  name text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);
--> statement-breakpoint
create index service_accounts_organization on identity.service_accounts (organization_id);
--> statement-breakpoint

-- Members: people and service accounts. The row of a removed member stays, and loses its person when that account is
-- deleted.
create table identity.members (
  id text collate "C" primary key,
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  principal text not null check (principal in ('user', 'service_account')),
  user_id text collate "C" references identity.users (id),
  service_account_id text collate "C" references identity.service_accounts (id) on delete cascade,
  display_name text,
  role text collate "C",
  status text not null check (status in ('active', 'suspended', 'removed')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  check (principal = 'user' or (user_id is null and display_name is null)),
  check (principal <> 'user' or service_account_id is null),
  check (principal <> 'user' or user_id is not null or status = 'removed'),
  check (principal <> 'service_account' or service_account_id is not null)
);
--> statement-breakpoint
create unique index members_person_once on identity.members (organization_id, user_id)
  where status <> 'removed' and user_id is not null;
--> statement-breakpoint
create unique index members_service_account on identity.members (service_account_id)
  where service_account_id is not null;
--> statement-breakpoint
create index members_organization on identity.members (organization_id);
--> statement-breakpoint
create index members_listed on identity.members (organization_id, id text_pattern_ops) where status <> 'removed';
--> statement-breakpoint
create index members_role on identity.members (organization_id, role) where status <> 'removed';
--> statement-breakpoint
create index members_service_accounts_listed
  on identity.members (organization_id, service_account_id text_pattern_ops)
  where status <> 'removed' and service_account_id is not null;
--> statement-breakpoint
create index members_user on identity.members (user_id) where user_id is not null;
--> statement-breakpoint
create index members_memberships_listed on identity.members (user_id, id text_pattern_ops)
  where status = 'active' and user_id is not null;
--> statement-breakpoint

-- API keys. A key belongs to a person or to a member. `rotated_to` is the key that replaces it; it has no reference,
-- because both keys are deleted with their owner. Free space on each page keeps writes of `last_used_at` out of the
-- indexes.
create table identity.api_keys (
  id text collate "C" primary key,
  user_id text collate "C" references identity.users (id),
  member_id text collate "C" references identity.members (id) on delete cascade,
  hash text collate "C" not null unique,
  key_prefix text not null,
  name text not null,
  created_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  rotated_to text collate "C",
  check (num_nonnulls(user_id, member_id) = 1)
) with (fillfactor = 90);
--> statement-breakpoint
create index api_keys_user on identity.api_keys (user_id, id text_pattern_ops) where user_id is not null;
--> statement-breakpoint
create index api_keys_member on identity.api_keys (member_id, id text_pattern_ops) where member_id is not null;
--> statement-breakpoint

-- Sessions of members, by the hash of the token.
create table identity.sessions (
  hash text collate "C" primary key,
  member_id text collate "C" not null references identity.members (id) on delete cascade,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
--> statement-breakpoint
create index sessions_member on identity.sessions (member_id);
--> statement-breakpoint
create index sessions_expiry on identity.sessions (expires_at);
--> statement-breakpoint

-- Invites. The token and the address are kept while the invite is active, the hash for as long as the invite exists.
create table identity.invites (
  id text collate "C" primary key,
  organization_id text collate "C" not null references identity.organizations (id) on delete cascade,
  email text,
  role text collate "C",
  token_hash text collate "C" not null unique,
  token_prefix text not null,
  token text,
  status text not null check (status in ('active', 'redeemed', 'revoked', 'expired')),
  max_uses integer check (max_uses > 0),
  use_count integer not null default 0 check (use_count >= 0),
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  check ((status = 'active') = (token is not null)),
  check (status = 'active' or email is null),
  check (max_uses is null or use_count <= max_uses)
);
--> statement-breakpoint
create index invites_organization on identity.invites (organization_id, id text_pattern_ops);
--> statement-breakpoint
create index invites_expiry on identity.invites (expires_at) where status = 'active';
--> statement-breakpoint

-- The lifecycle feed. The order of ids is the order of commits: see apps/identity/lifecycle.
create table identity.lifecycle_events (
  id text collate "C" primary key,
  type text not null check (type in
    ('organization.created', 'organization.plan_changed', 'member.created', 'member.removed', 'organization.deleted')),
  occurred_at timestamptz(3) not null,
  organization_id text collate "C" not null,
  data jsonb not null
);
--> statement-breakpoint

-- Whose admission has changed, for the caches of gateways: see apps/identity/admission-changes. Triggers write these rows
-- in the transaction of the change. A row names its transaction, so that a reader finds what has committed since its last
-- look, however transactions overlap, and no commit waits for another. Credentials and members are deleted only with the
-- person, the membership or the organization that they belong to.
create table identity.admission_changes (
  xid xid8 not null default pg_current_xact_id(),
  n bigint generated always as identity,
  user_id text collate "C",
  member_id text collate "C",
  organization_id text collate "C",
  readmits boolean not null,
  recorded_at timestamptz(3) not null default clock_timestamp(),
  primary key (xid, n),
  check (num_nonnulls(user_id, member_id, organization_id) = 1)
);
--> statement-breakpoint
create index admission_changes_age on identity.admission_changes (recorded_at);
--> statement-breakpoint

-- All transactions before `oldest` had ended at `seen_at`. A change that its transaction committed late is kept as long as others.
create table identity.ended_transactions (
  oldest xid8 not null default pg_snapshot_xmin(pg_current_snapshot()),
  seen_at timestamptz(3) primary key default clock_timestamp()
);
--> statement-breakpoint

-- A change of a person is one of each membership, because gateways know members without their persons. Joining locks the
-- person's row, so no membership is missed. The subjects of a deleted person can become another person or be linked to one.
create function identity.user_admission_changed() returns trigger language plpgsql as $$
begin
  insert into identity.admission_changes (user_id, readmits)
    values (old.id, case when tg_op = 'UPDATE' then new.status = 'active' else old.status = 'suspended' end);
  insert into identity.admission_changes (member_id, readmits)
    select id, tg_op = 'UPDATE' and new.status = 'active'
    from identity.members where user_id = old.id and status <> 'removed';
  return null;
end $$;
--> statement-breakpoint
create trigger admission_changed after update of status on identity.users
  for each row when (old.status is distinct from new.status) execute function identity.user_admission_changed();
--> statement-breakpoint
create trigger admission_ended after delete on identity.users
  for each row execute function identity.user_admission_changed();
--> statement-breakpoint

create function identity.member_admission_changed() returns trigger language plpgsql as $$
begin
  insert into identity.admission_changes (member_id, readmits)
    values (old.id, old.status <> 'active' and new.status = 'active');
  return null;
end $$;
--> statement-breakpoint
create trigger admission_changed after update of status, role on identity.members
  for each row when ((old.status, old.role) is distinct from (new.status, new.role))
  execute function identity.member_admission_changed();
--> statement-breakpoint
create function identity.organization_admission_changed() returns trigger language plpgsql as $$
begin
  insert into identity.admission_changes (organization_id, readmits) values (old.id, false);
  return null;
end $$;
--> statement-breakpoint
create trigger admission_changed after update of plan on identity.organizations
  for each row when (old.plan is distinct from new.plan)
  execute function identity.organization_admission_changed();
--> statement-breakpoint
create trigger admission_ended after delete on identity.organizations
  for each row execute function identity.organization_admission_changed();
--> statement-breakpoint

create function identity.key_admission_changed() returns trigger language plpgsql as $$
begin
  insert into identity.admission_changes (user_id, member_id, readmits) values (old.user_id, old.member_id, false);
  return null;
end $$;
--> statement-breakpoint
create trigger admission_changed after update of revoked_at, expires_at on identity.api_keys
  for each row
  when ((old.revoked_at, old.expires_at) is distinct from (new.revoked_at, new.expires_at))
  execute function identity.key_admission_changed();
