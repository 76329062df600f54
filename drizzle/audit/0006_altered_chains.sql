-- Chains whose row is not the one that the sealer wrote (apps/audit/README.md, Proof): nothing is sealed on top of
-- them, and others go on. The row of such a chain goes once it is again what it must be, and all that waited is sealed.
create table audit.altered_chains (
  owner text collate "C" primary key,
  found_at timestamptz(3) not null default now(),
  reason text not null,
  -- the end that the sealer wrote last, as it remembers it; null where it only saw that the row contradicts itself
  position bigint,
  chain bytea,
  -- how far the log is sealed
  sealed_to pg_snapshot not null,
  -- set by an operator who cannot restore the chain: sealing goes on from the row as it is
  accepted boolean not null default false
);
