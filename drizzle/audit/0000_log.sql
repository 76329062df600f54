-- The audit log: events, their proof, witnesses, streams, usage and quotas. Texts that are compared or ordered use byte
-- order ("C"), which is also the order of ULIDs in time.

-- Functions.

-- The salt of an entry, for a writer that gives none.
create function audit.random_salt() returns bytea language sql volatile parallel safe as $$
  select substring(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())) from 1 for 16)
$$;
--> statement-breakpoint

-- A param's name and value as one key of fixed size, because a value can be longer than an index entry.
create function audit.param_pair(name text, value text) returns uuid
  language sql immutable strict parallel safe
  return md5(length(name)::text || ':' || name || value)::uuid;
--> statement-breakpoint

create function audit.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% on % is refused: the audit log is append-only', tg_op, tg_table_name
    using errcode = 'restrict_violation';
end
$$;
--> statement-breakpoint

-- Lets an event change once, from pending to its outcome. The outcome names the organization and its actor only for an
-- event of a person's log that names no organization yet. The search path is fixed, because an operator of the caller
-- could otherwise find that any change is allowed.
create function audit.refuse_all_but_outcome() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  kept record;
begin
  if old.outcome = 'pending' and new.outcome <> 'pending' then
    kept := new;
    kept.outcome := old.outcome;
    kept.status := old.status;
    kept.details := old.details;
    kept.created_id := old.created_id;
    kept.outcome_salt := old.outcome_salt;
    if old.user_id is not null and old.organization_id is null then
      kept.organization_id := old.organization_id;
      kept.actor_member_id := old.actor_member_id;
    end if;
    if kept *= old then
      new.outcome_xid := pg_current_xact_id();
      if new.outcome_salt is null then
        new.outcome_salt := audit.random_salt();
      end if;
      if new.organization_id is distinct from old.organization_id then
        new.named_by_outcome := true;
        new.intent_member_id := old.actor_member_id;
      end if;
      return new;
    end if;
  end if;
  raise exception 'UPDATE on % is refused: an audit event changes once, from pending to its outcome', tg_table_name
    using errcode = 'restrict_violation';
end
$$;
--> statement-breakpoint

-- Creates the partition of a month; returns false if it exists. It runs with the rights of the log's owner, so that the
-- service's role needs none. A caller chooses the month and nothing else. The partition is attached after it is made:
-- unlike `create table … partition of`, that never blocks a writer.
create function audit.make_partition(month text) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  partition text := 'audit_events_' || replace(month, '-', '_');
  begins date;
begin
  if month !~ '^20[0-9]{2}-(0[1-9]|1[0-2])$' then
    raise exception 'a partition is for a month from 2000-01 to 2099-12' using errcode = 'invalid_parameter_value';
  end if;
  begins := (month || '-01')::date;
  perform pg_advisory_xact_lock(hashtextextended('partitions of audit_events', 0));
  if to_regclass(format('audit.%I', partition)) is not null then
    return false;
  end if;
  execute format('create table audit.%I (like audit.audit_events including all)', partition);
  execute format(
    'alter table audit.audit_events attach partition audit.%I for values from (%L) to (%L)',
    partition, begins || ' 00:00:00Z', (begins + interval '1 month')::date || ' 00:00:00Z');
  execute format(
    'create trigger no_truncate before truncate on audit.%I for each statement execute function audit.refuse_change()',
    partition);
  return true;
end
$$;
--> statement-breakpoint
revoke all on function audit.make_partition(text) from public;
--> statement-breakpoint

-- Events.

-- One event for each audited request: written once as an intent, changed once by its outcome. The service creates a
-- partition for each month, from last month to two months ahead. `details` is json, not jsonb, which would refuse some
-- escapes that a service may send. The primary key begins with the time, because the planner would take an order by id
-- for the order of a whole month. `named_by_outcome` says that the outcome put the event into an organization's log;
-- `intent_member_id` is the member that the intent had named.
create table audit.audit_events (
  id text collate "C" not null,
  occurred_at timestamptz(3) not null,
  request_id text collate "C" not null,
  organization_id text collate "C",
  user_id text collate "C",
  actor_member_id text collate "C",
  actor_auth_type text collate "C" not null,
  actor_key_prefix text,
  service text collate "C" not null,
  method text collate "C" not null,
  route text collate "C" not null,
  params jsonb not null,
  ip text not null,
  user_agent text,
  outcome text collate "C" not null default 'pending'
    check (outcome in ('pending', 'rejected', 'responded', 'no_response')),
  status smallint,
  details json,
  created_id text collate "C",
  intent_xid xid8 default pg_current_xact_id(),
  intent_salt bytea not null default audit.random_salt(),
  outcome_xid xid8,
  outcome_salt bytea,
  named_by_outcome boolean,
  intent_member_id text collate "C",
  primary key (occurred_at, id)
) partition by range (occurred_at);
--> statement-breakpoint
create trigger only_outcome before update on audit.audit_events
  for each row execute function audit.refuse_all_but_outcome();
--> statement-breakpoint
create trigger no_delete before delete on audit.audit_events
  for each row execute function audit.refuse_change();
--> statement-breakpoint
-- Partitions inherit row triggers, but not this one: make_partition creates it on each.
create trigger no_truncate before truncate on audit.audit_events
  for each statement execute function audit.refuse_change();
--> statement-breakpoint

-- One index for each filter of the reads: first the log, then the filter, then the order. Most events are in one log, so
-- they have entries in one half of these indexes.
create index events_of_organization on audit.audit_events (organization_id, id)
  where organization_id is not null;
--> statement-breakpoint
create index events_of_organization_by_member on audit.audit_events (organization_id, actor_member_id, id)
  where organization_id is not null and actor_member_id is not null;
--> statement-breakpoint
create index events_of_organization_by_service on audit.audit_events (organization_id, service, id)
  where organization_id is not null;
--> statement-breakpoint
create index events_of_organization_by_method on audit.audit_events (organization_id, method, id)
  where organization_id is not null;
--> statement-breakpoint
create index events_of_organization_by_route on audit.audit_events (organization_id, route, id)
  where organization_id is not null;
--> statement-breakpoint
create index events_of_organization_by_outcome on audit.audit_events (organization_id, outcome, id)
  where organization_id is not null;
--> statement-breakpoint
create index events_of_organization_by_created on audit.audit_events (organization_id, created_id, id)
  where organization_id is not null and created_id is not null;
--> statement-breakpoint
create index events_of_user on audit.audit_events (user_id, id)
  where user_id is not null;
--> statement-breakpoint
create index events_of_user_by_member on audit.audit_events (user_id, actor_member_id, id)
  where user_id is not null and actor_member_id is not null;
--> statement-breakpoint
create index events_of_user_by_service on audit.audit_events (user_id, service, id)
  where user_id is not null;
--> statement-breakpoint
create index events_of_user_by_method on audit.audit_events (user_id, method, id)
  where user_id is not null;
--> statement-breakpoint
create index events_of_user_by_route on audit.audit_events (user_id, route, id)
  where user_id is not null;
--> statement-breakpoint
create index events_of_user_by_outcome on audit.audit_events (user_id, outcome, id)
  where user_id is not null;
--> statement-breakpoint
create index events_of_user_by_created on audit.audit_events (user_id, created_id, id)
  where user_id is not null and created_id is not null;
--> statement-breakpoint
create index events_by_outcome_xid on audit.audit_events (outcome_xid) where outcome_xid is not null;
--> statement-breakpoint

-- Every request id of the log, with the place of its event. A unique index of a partitioned table must contain the
-- partition key, so this table makes request ids unique. `xid` is the transaction of the intent: an index on the event
-- itself would get a new entry with the outcome.
create table audit.request_ids (
  request_id text collate "C" primary key,
  occurred_at timestamptz(3) not null,
  id text collate "C" not null,
  xid xid8 default pg_current_xact_id()
);
--> statement-breakpoint
create index intents_by_xid on audit.request_ids (xid) where xid is not null;
--> statement-breakpoint
create trigger no_change before update or delete or truncate on audit.request_ids
  for each statement execute function audit.refuse_change();
--> statement-breakpoint

-- The events of a log that have a path param with a certain name and value, in the order of the log.
create table audit.event_params (
  log text collate "C" not null,
  pair uuid not null,
  id text collate "C" not null,
  occurred_at timestamptz(3) not null,
  primary key (log, pair, id)
);
--> statement-breakpoint
create trigger no_change before update or delete or truncate on audit.event_params
  for each statement execute function audit.refuse_change();
--> statement-breakpoint

-- The proof (apps/audit/README.md, Proof): one chain for each owner, one map of all heads, one tree, one signed root.

create sequence audit.chain_ids;
--> statement-breakpoint

-- The head of each owner's chain, and the number of the newest leaf whose map has it.
create table audit.chains (
  id bigint primary key,
  owner text collate "C" not null unique,
  position bigint not null,
  chain bytea not null,
  leaf bigint not null
);
--> statement-breakpoint
-- Finds the chains that moved since a leaf. A BRIN index summarizes pages, so updates of a chain stay cheap.
create index chains_by_leaf on audit.chains using brin (leaf)
  with (pages_per_range = 16, autosummarize = on);
--> statement-breakpoint
create trigger no_change before delete or truncate on audit.chains
  for each statement execute function audit.refuse_change();
--> statement-breakpoint

-- One row for each intent and each outcome in each chain. The row stays when retention drops the event.
create table audit.entries (
  chain_id bigint not null,
  position bigint not null,
  occurred_at timestamptz(3) not null,
  event_id text collate "C" not null,
  is_outcome boolean not null,
  chain bytea not null,
  primary key (chain_id, position)
);
--> statement-breakpoint
create unique index entries_of_event on audit.entries (event_id, chain_id, is_outcome);
--> statement-breakpoint
create trigger no_change before update or delete or truncate on audit.entries
  for each statement execute function audit.refuse_change();
--> statement-breakpoint

-- The entries of chains that no event wrote: months that retention drops, and restarts. `month` is null for a restart.
-- `content` has the fields of the entry, except its salt.
create table audit.declarations (
  chain_id bigint not null,
  position bigint not null,
  declared_at timestamptz(3) not null,
  kind text collate "C" not null check (kind in ('retention', 'restart')),
  month text collate "C",
  content json not null,
  chain bytea not null,
  salt bytea not null,
  primary key (chain_id, position)
);
--> statement-breakpoint
create index declarations_of_month on audit.declarations (month) where month is not null;
--> statement-breakpoint
create trigger no_change before update or delete or truncate on audit.declarations
  for each statement execute function audit.refuse_change();
--> statement-breakpoint

-- The hashes of the contents of dropped entries that were sealed near the end of their month or later.
create table audit.dropped_contents (
  chain_id bigint not null,
  position bigint not null,
  content bytea not null,
  primary key (chain_id, position)
);
--> statement-breakpoint
create trigger no_change before update or delete or truncate on audit.dropped_contents
  for each statement execute function audit.refuse_change();
--> statement-breakpoint

-- Chains that are left out: their rows are not what was sealed, or their events cannot be sealed. The sealer looks at
-- them again, and continues once they match.
create table audit.altered_chains (
  owner text collate "C" primary key,
  found_at timestamptz(3) not null default now(),
  reason text not null
);
--> statement-breakpoint

-- The leaves of the tree. `map` is the root of the map of heads. `hashes` has the hash of the leaf, then of each complete
-- subtree that ends with it, 32 bytes for each level. Numbers never start again: the first leaf of a tree is the one after
-- `before` of its row in audit.trees.
create table audit.leaves (
  number bigint primary key,
  sealed_at timestamptz(3) not null,
  map bytea not null,
  hashes bytea not null
);
--> statement-breakpoint
-- Finds the last leaf of each day.
create index leaves_by_time on audit.leaves (sealed_at, number);
--> statement-breakpoint
create trigger no_change before update or delete or truncate on audit.leaves
  for each statement execute function audit.refuse_change();
--> statement-breakpoint

-- The trees of the log, of which the newest one grows: a restart begins a new tree under a new name. `before` is the
-- number of leaves of all trees before it.
create table audit.trees (
  before bigint primary key,
  origin text collate "C" not null unique,
  started_at timestamptz(3) not null
);
--> statement-breakpoint
create trigger no_change before update or delete or truncate on audit.trees
  for each statement execute function audit.refuse_change();
--> statement-breakpoint

-- The nodes of the map of heads. A leaf writes the nodes that lead to a head that moved, and never changes a node, so a
-- head can be proved under every leaf. `version` is the number of the leaf. `path` has the hexadecimal digits of SHA-256
-- of the owner that lead to the node. The key is not unique, so that a row that somebody adds stops no leaf: of several
-- nodes with one key, the one with the expected hash counts.
create table audit.head_map (
  version bigint not null,
  path text collate "C" not null,
  node bytea not null
);
--> statement-breakpoint
create index head_map_key on audit.head_map (version, path);
--> statement-breakpoint
create trigger no_change before update or delete or truncate on audit.head_map
  for each statement execute function audit.refuse_change();
--> statement-breakpoint

-- One row: the state that the sealers of all replicas share. Everything that `sealed_to` sees has its entries. `passes`
-- lets only one of two concurrent passes write. `note` is the newest signed root of the newest tree.
create table audit.sealer (
  singleton boolean primary key default true check (singleton),
  passes bigint not null,
  holder text,
  passed_at timestamptz not null,
  sealed_to pg_snapshot not null,
  note text
);
--> statement-breakpoint
insert into audit.sealer (passes, passed_at, sealed_to) values (0, now(), '3:3:');
--> statement-breakpoint

-- Cosignatures of witnesses over roots of the tree. `note` is the root as the log signed it, `witness` the verifier key,
-- and `line` the signature. Rows from before the newest root that a quorum cosigned are deleted.
create table audit.cosignatures (
  size bigint not null,
  note text not null,
  witness text not null,
  line text not null,
  cosigned_at timestamptz not null,
  primary key (note, witness)
);
--> statement-breakpoint

-- Streams (apps/audit/README.md, Streams).

-- The streams of organizations to their own receivers: the settings, the progress, and the replica that delivers.
create table audit.streams (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  url text not null,
  format text collate "C" not null check (format in ('ostiary', 'ocsf')),
  filter json,
  -- encrypted; the previous secret signs beside the current one until its time is over
  secret text not null,
  previous_secret text,
  previous_secret_until timestamptz,
  status text collate "C" not null default 'active' check (status in ('active', 'failing', 'paused')),
  failing_since timestamptz(3),
  last_error text,
  -- consecutive failed calls, and the time since the first of them
  failures integer not null default 0,
  failing_ms bigint not null default 0,
  -- whether the last call failed or took long; null before the first call to a receiver
  is_slow boolean,
  -- every entry up to here is delivered, or left out by the filter
  position bigint not null,
  -- the `after` of the next batch: a position, and the chain there
  after_position bigint not null,
  after_chain bytea not null,
  delivered_position bigint,
  delivered_occurred_at timestamptz(3),
  next_attempt_at timestamptz not null default now(),
  lease text,
  lease_until timestamptz,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  -- the length of the pause before the next attempt; a longer pause is left over from a clock that was set back
  pause_ms bigint not null default 90000000
);
--> statement-breakpoint
create index streams_of_organization on audit.streams (organization_id, id);
--> statement-breakpoint

-- One row: the operator's stream of the entries of all organizations. Chains are visited in the order of their newest
-- leaves, then of their ids; the chains up to `leaf` and `chain_id` are delivered.
create table audit.operator_stream (
  singleton boolean primary key default true check (singleton),
  -- the receiver that the failures belong to
  url text not null,
  failures integer not null default 0,
  failing_ms bigint not null default 0,
  failing_since timestamptz(3),
  last_error text,
  leaf bigint not null,
  chain_id bigint not null,
  next_attempt_at timestamptz not null default now(),
  lease text,
  lease_until timestamptz,
  pause_ms bigint not null default 90000000
);
--> statement-breakpoint

-- The position up to which the operator's stream has delivered each chain. A chain without a row begins with its first
-- entry.
create table audit.operator_stream_positions (
  chain_id bigint primary key,
  position bigint not null,
  chain bytea not null
);
--> statement-breakpoint

-- Usage (apps/audit/README.md, Usage).

-- The counts of one credential on one route in one hour, as gateways report them. A session counts for its member, with
-- an empty key prefix.
create table audit.usage_counts (
  organization_id text collate "C" not null,
  hour timestamptz(0) not null,
  service text collate "C" not null,
  route text collate "C" not null,
  method text collate "C" not null,
  member_id text collate "C" not null,
  key_prefix text collate "C" not null,
  requests bigint not null,
  refused_limit bigint not null,
  refused_labels bigint not null,
  refused_other bigint not null,
  failed bigint not null,
  bytes_in bigint not null,
  bytes_out bigint not null,
  duration_ms bigint not null,
  primary key (organization_id, hour, service, route, method, member_id, key_prefix)
);
--> statement-breakpoint

-- Counts that are not in the feed yet. A row moves to usage_events after its hour. Later counts make a new row, so each
-- request is in one event.
create table audit.usage_pending (
  organization_id text collate "C" not null,
  hour timestamptz(0) not null,
  service text collate "C" not null,
  route text collate "C" not null,
  method text collate "C" not null,
  member_id text collate "C" not null,
  key_prefix text collate "C" not null,
  requests bigint not null,
  refused_limit bigint not null,
  refused_labels bigint not null,
  refused_other bigint not null,
  failed bigint not null,
  bytes_in bigint not null,
  bytes_out bigint not null,
  duration_ms bigint not null,
  primary key (organization_id, hour, service, route, method, member_id, key_prefix)
);
--> statement-breakpoint
create index usage_pending_by_hour on audit.usage_pending (hour);
--> statement-breakpoint

-- The feed of usage. The order of ids is the order of commits.
create table audit.usage_events (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  hour timestamptz(0) not null,
  service text collate "C" not null,
  route text collate "C" not null,
  method text collate "C" not null,
  member_id text collate "C" not null,
  key_prefix text collate "C" not null,
  requests bigint not null,
  refused_limit bigint not null,
  refused_labels bigint not null,
  refused_other bigint not null,
  failed bigint not null,
  bytes_in bigint not null,
  bytes_out bigint not null,
  duration_ms bigint not null
);
--> statement-breakpoint

-- The progress of each gateway process. A report whose number is not above `number` is not counted. Everything that ended
-- before `reported_until` is reported. `uncounted` is the number of requests for which the gateway had no room.
create table audit.usage_reporters (
  instance text collate "C" primary key,
  number bigint not null,
  reported_until timestamptz(3) not null,
  is_ended boolean not null,
  uncounted bigint not null
);
--> statement-breakpoint
create index usage_reporters_not_ended on audit.usage_reporters (reported_until) where not is_ended;
--> statement-breakpoint

-- The requests that gateways have charged to each quota. A counter store that lost its counts starts from these. A row is
-- deleted after its period. `id` is SHA-256 of policy, period and subject, because a policy can be longer than an index
-- entry. `requests` is the limit under the plan of the last charge.
create table audit.quota_counts (
  id bytea primary key,
  policy text collate "C" not null,
  period text collate "C" not null,
  subject text collate "C" not null,
  ends_at timestamptz(0) not null,
  count bigint not null,
  requests bigint
);
--> statement-breakpoint
create index quota_counts_by_end on audit.quota_counts (ends_at);
--> statement-breakpoint
create index quota_counts_by_subject on audit.quota_counts (subject, period);
