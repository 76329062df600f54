-- Each checkpoint commits to the heads of all owners, by a Merkle map (apps/audit/README.md, Proof). A node of the map
-- is never changed: each checkpoint writes the nodes that lead to a head that moved, so a head can be proved under every
-- checkpoint.
create table audit.head_map (
  checkpoint bigint not null,
  -- the hexadecimal digits of SHA-256 of the owner that lead to the node
  path text collate "C" not null,
  node bytea not null,
  primary key (checkpoint, path)
);
--> statement-breakpoint
create trigger no_change before update or delete or truncate on audit.head_map
  for each statement execute function audit.refuse_change();
--> statement-breakpoint
alter table audit.checkpoints add column map bytea, alter column heads drop not null;
--> statement-breakpoint
-- A replica of an older version signs nothing beside this one: its checkpoints have no map.
alter table audit.checkpoints add constraint has_map check (map is not null) not valid;
--> statement-breakpoint
-- Chains whose head only an older checkpoint holds; the sealer brings them into the map.
alter table audit.chains alter column inclusion drop not null;
--> statement-breakpoint
create index chains_outside_map on audit.chains (id) where inclusion is not null;
--> statement-breakpoint
-- Finds the last checkpoint of each day.
create index checkpoints_by_time on audit.checkpoints (sealed_at, number);
