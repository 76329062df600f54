-- Streams deliver the events of an organization to its own receiver (apps/audit/README.md, Streams). One row holds what
-- an organization asked for, how far the stream has come in the organization's chain, and which replica delivers for it.
create table audit.streams (
  id text collate "C" primary key,
  organization_id text collate "C" not null,
  url text not null,
  format text collate "C" not null check (format in ('ostiary', 'ocsf')),
  filter json,
  -- encrypted; the previous secret signs beside the new one until its time is over
  secret text not null,
  previous_secret text,
  previous_secret_until timestamptz,
  status text collate "C" not null default 'active' check (status in ('active', 'failing', 'paused')),
  failing_since timestamptz(3),
  last_error text,
  -- calls that failed one after the other, and how long the stream has been trying since the first
  failures integer not null default 0,
  failing_ms bigint not null default 0,
  -- the last call failed or took long
  is_slow boolean not null default false,
  -- every entry up to here is delivered, or left out by the filter
  position bigint not null,
  -- the place that the next batch names as the one before it, and the value of the chain there
  after_position bigint not null,
  after_chain bytea not null,
  delivered_position bigint,
  delivered_occurred_at timestamptz(3),
  next_attempt_at timestamptz not null default now(),
  -- the replica that delivers now
  lease text,
  lease_until timestamptz,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
--> statement-breakpoint
create index streams_of_organization on audit.streams (organization_id, id);
