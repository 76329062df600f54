-- Keys end, and are turned over. Keys that were there before have no end.
alter table identity.api_keys
  add column expires_at timestamptz(3),
  add column last_used_at timestamptz(3),
  -- the key that took its place, which may outlive it; no reference, since both go with their owner
  add column rotated_to text collate "C";
--> statement-breakpoint
-- Room on each page for rows whose last_used_at is written: then none of the indexes is touched.
alter table identity.api_keys set (fillfactor = 90);
