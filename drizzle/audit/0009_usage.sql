-- What organizations used, as gateways report it (apps/audit/README.md, Usage). One row holds the counts of one route and
-- one credential in one hour. A session counts for its member, with an empty key prefix.
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
-- How far each gateway process has reported. A report whose number is not above the stored one is not counted again.
create table audit.usage_reporters (
  instance text collate "C" primary key,
  number bigint not null,
  -- everything that ended before this time is reported
  reported_until timestamptz(3) not null,
  -- the gateway stopped in order, and nothing is missing after its last report
  is_ended boolean not null,
  -- requests for which the gateway had no room
  uncounted bigint not null
);
--> statement-breakpoint
create index usage_reporters_not_ended on audit.usage_reporters (reported_until) where not is_ended;
