-- The audit log: one event per audited request, written once as an intent, changed once by its outcome.
-- Partitions are made by the service, monthly, from last month to two months ahead.
-- Texts that are compared or ordered use byte order ("C"), which is also the order of ULIDs in time.

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
  -- json, not jsonb: it keeps every escape that a service may send, NUL and lone surrogates included
  details json,
  created_id text collate "C",
  -- in this order, lest the planner take it for an order of ids and filter a whole month
  primary key (occurred_at, id)
) partition by range (occurred_at);
--> statement-breakpoint
-- A unique index of a partitioned table must hold the partition key, so uniqueness over the whole log has a
-- table of its own. It also tells where the event of a request is.
create table audit.request_ids (
  request_id text collate "C" primary key,
  occurred_at timestamptz(3) not null,
  id text collate "C" not null
);
--> statement-breakpoint
-- Which events of a log have a path param of a certain name and value (`pair`), in the log's order.
create table audit.event_params (
  log text collate "C" not null,
  pair uuid not null,
  id text collate "C" not null,
  occurred_at timestamptz(3) not null,
  primary key (log, pair, id)
);
--> statement-breakpoint
-- A param's name and value as one key of fixed size: values may be longer than an index entry.
create function audit.param_pair(name text, value text) returns uuid
  language sql immutable strict parallel safe
  return md5(length(name)::text || ':' || name || value)::uuid;
--> statement-breakpoint
-- Every filter of the reads, after the log it is read from and before the order that it is read in. An event
-- is in one log, seldom in two, so it has one entry in most of these and none in the rest.
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
create function audit.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% on % is refused: the audit log is append-only', tg_op, tg_table_name
    using errcode = 'restrict_violation';
end
$$;
--> statement-breakpoint
-- Lets an event go from pending to its outcome, with what the outcome brings, and nothing else. The log and the
-- actor of an organization come with it only for an event of a person's log that names no organization yet.
create function audit.refuse_all_but_outcome() returns trigger language plpgsql as $$
declare
  kept record;
begin
  if old.outcome = 'pending' and new.outcome <> 'pending' then
    kept := new;
    kept.outcome := old.outcome;
    kept.status := old.status;
    kept.details := old.details;
    kept.created_id := old.created_id;
    if old.user_id is not null and old.organization_id is null then
      kept.organization_id := old.organization_id;
      kept.actor_member_id := old.actor_member_id;
    end if;
    if kept *= old then
      return new;
    end if;
  end if;
  raise exception 'UPDATE on % is refused: an audit event changes once, from pending to its outcome', tg_table_name
    using errcode = 'restrict_violation';
end
$$;
--> statement-breakpoint
create trigger only_outcome before update on audit.audit_events
  for each row execute function audit.refuse_all_but_outcome();
--> statement-breakpoint
create trigger no_delete before delete on audit.audit_events
  for each row execute function audit.refuse_change();
--> statement-breakpoint
-- Row triggers reach every partition by themselves; this one is made again on each.
create trigger no_truncate before truncate on audit.audit_events
  for each statement execute function audit.refuse_change();
--> statement-breakpoint
create trigger no_change before update or delete or truncate on audit.request_ids
  for each statement execute function audit.refuse_change();
--> statement-breakpoint
create trigger no_change before update or delete or truncate on audit.event_params
  for each statement execute function audit.refuse_change();
