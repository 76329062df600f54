-- Checkpoints are the leaves of an append-only tree that witnesses follow (apps/audit/README.md, Proof). The sealer adds
-- leaves in their order, those of older versions first, and signs the root.
create table audit.checkpoint_tree (
  -- the number of the checkpoint; its leaf is the one before this number
  number bigint primary key,
  -- the hash of the leaf, then of each complete subtree that ends with it, 32 bytes for each level
  hashes bytea not null
);
--> statement-breakpoint
create trigger no_change before update or delete or truncate on audit.checkpoint_tree
  for each statement execute function audit.refuse_change();
--> statement-breakpoint
-- The newest signed root, as a note; null while no key signs.
alter table audit.sealer add column note text;
