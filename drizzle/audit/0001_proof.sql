-- The proof of the log (apps/audit/README.md, Proof): each intent and each outcome is an entry in the hash chain of
-- its owner. A writer gives a salt and the number of its transaction, by defaults and by the trigger that is there
-- already; places are given later, by the sealer. What was written before has neither, and is sealed first.

create function audit.random_salt() returns bytea language sql volatile parallel safe as $$
  select substring(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())) from 1 for 16)
$$;
--> statement-breakpoint
alter table audit.audit_events
  add column intent_xid xid8,
  add column intent_salt bytea,
  add column outcome_xid xid8,
  add column outcome_salt bytea,
  -- whether the outcome put the event into an organization's log, and the member that the intent had named
  add column named_by_outcome boolean,
  add column intent_member_id text collate "C";
--> statement-breakpoint
alter table audit.audit_events
  alter column intent_xid set default pg_current_xact_id(),
  alter column intent_salt set default audit.random_salt();
--> statement-breakpoint
create index events_by_intent_xid on audit.audit_events (intent_xid) where intent_xid is not null;
--> statement-breakpoint
create index events_by_outcome_xid on audit.audit_events (outcome_xid) where outcome_xid is not null;
--> statement-breakpoint
create or replace function audit.refuse_all_but_outcome() returns trigger language plpgsql as $$
declare
  kept record;
begin
  if old.outcome = 'pending' and new.outcome <> 'pending' then
    new.outcome_xid := pg_current_xact_id();
    new.outcome_salt := audit.random_salt();
    new.named_by_outcome := null;
    new.intent_member_id := null;
    kept := new;
    kept.outcome := old.outcome;
    kept.status := old.status;
    kept.details := old.details;
    kept.created_id := old.created_id;
    kept.outcome_xid := old.outcome_xid;
    kept.outcome_salt := old.outcome_salt;
    if old.user_id is not null and old.organization_id is null then
      kept.organization_id := old.organization_id;
      kept.actor_member_id := old.actor_member_id;
      if new.organization_id is not null then
        new.named_by_outcome := true;
        new.intent_member_id := old.actor_member_id;
      end if;
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
-- The public keys that checkpoints were ever signed by.
create table audit.signing_keys (
  kid text collate "C" primary key,
  x text not null,
  added_at timestamptz(3) not null default now()
);
--> statement-breakpoint
create table audit.checkpoints (
  number bigint primary key,
  sealed_at timestamptz(3) not null,
  previous bytea not null,
  heads bytea not null,
  jws text
);
--> statement-breakpoint
create sequence audit.chain_ids;
--> statement-breakpoint
-- The head of each owner's chain, and where the checkpoint that holds it has it.
create table audit.chains (
  id bigint primary key,
  owner text collate "C" not null unique,
  position bigint not null,
  chain bytea not null,
  checkpoint bigint not null,
  inclusion json not null
);
--> statement-breakpoint
-- One row for each entry of each chain. It stays when the month of its event is dropped. The salt is here for
-- events that were written before the log was proved; others have theirs with them.
create table audit.entries (
  chain_id bigint not null,
  position bigint not null,
  occurred_at timestamptz(3) not null,
  event_id text collate "C" not null,
  is_outcome boolean not null,
  chain bytea not null,
  salt bytea,
  primary key (chain_id, position)
);
--> statement-breakpoint
create unique index entries_of_event on audit.entries (event_id, chain_id, is_outcome);
--> statement-breakpoint
-- How far everything is sealed: what `sealed_to` sees has its entries. `passes` is what a sealer compares before it
-- writes, so that of two at once one has done nothing.
create table audit.sealer (
  singleton boolean primary key default true check (singleton),
  passes bigint not null,
  holder text,
  passed_at timestamptz not null,
  sealed_to pg_snapshot not null,
  -- the kind of owner, and the last event, up to which older events are sealed; null when all of them are
  older_kind text,
  older_owner text collate "C" not null,
  older_id text collate "C" not null
);
--> statement-breakpoint
insert into audit.sealer (passes, passed_at, sealed_to, older_kind, older_owner, older_id)
values (0, now(), '3:3:',
  case when exists (select from audit.audit_events) then 'organization' end, '', '');
--> statement-breakpoint
create trigger no_change before update or delete or truncate on audit.signing_keys
  for each statement execute function audit.refuse_change();
--> statement-breakpoint
create trigger no_change before update or delete or truncate on audit.checkpoints
  for each statement execute function audit.refuse_change();
--> statement-breakpoint
create trigger no_change before update or delete or truncate on audit.entries
  for each statement execute function audit.refuse_change();
--> statement-breakpoint
create trigger no_change before delete or truncate on audit.chains
  for each statement execute function audit.refuse_change();
