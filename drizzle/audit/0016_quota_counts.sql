-- How many requests gateways have charged to each quota, as they report it. A counter store that lost its counts begins with
-- these. A row goes away when its period has ended.
create table audit.quota_counts (
  -- SHA-256 of policy, period and subject, because a policy can be longer than an index takes
  id bytea primary key,
  policy text collate "C" not null,
  period text collate "C" not null,
  subject text collate "C" not null,
  ends_at timestamptz(0) not null,
  count bigint not null
);
--> statement-breakpoint
create index quota_counts_by_end on audit.quota_counts (ends_at);
