-- The operator's own stream delivers the entries of all organizations (apps/audit/README.md, Streams). The one row says how
-- far it has come, and which replica delivers.
create table audit.operator_stream (
  singleton boolean primary key default true check (singleton),
  -- the receiver that the failures are of
  url text not null,
  failures integer not null default 0,
  failing_ms bigint not null default 0,
  failing_since timestamptz(3),
  last_error text,
  -- chains are visited in the order of their newest checkpoints, then of their ids: those up to here are delivered
  checkpoint bigint not null,
  chain_id bigint not null,
  next_attempt_at timestamptz not null default now(),
  -- the replica that delivers now
  lease text,
  lease_until timestamptz
);
--> statement-breakpoint
-- The entries up to here are delivered. A chain without a row begins with its first entry.
create table audit.operator_stream_places (
  chain_id bigint primary key,
  position bigint not null,
  chain bytea not null
);
--> statement-breakpoint
-- Finds the chains that moved. It summarizes pages, so that an update of a chain stays as cheap as without it.
create index chains_by_checkpoint on audit.chains using brin (checkpoint)
  with (pages_per_range = 16, autosummarize = on);
