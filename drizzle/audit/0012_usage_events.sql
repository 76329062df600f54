-- Counts that the feed of usage has not told yet, with the key of usage_counts. A row moves to usage_events once its hour
-- is over. A count that comes later makes a new row, so each request is told once.
create table audit.usage_untold (
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
create index usage_untold_by_hour on audit.usage_untold (hour);
--> statement-breakpoint
insert into audit.usage_untold select * from audit.usage_counts;
--> statement-breakpoint
-- The feed. Ids rise in the order of commits.
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
