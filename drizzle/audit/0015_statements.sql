-- What each organization used in a month in UTC, by service and by rate-limit policy (apps/audit/README.md, Statements).
-- Reports add to it as they add to usage_counts. The writer of statements reads what changed since it was stated.
create table audit.usage_months (
  organization_id text collate "C" not null,
  month text collate "C" not null,
  -- the service of the requests, or of the policy; empty for a shared policy
  service text collate "C" not null,
  -- empty for the sums of the service
  policy text collate "C" not null,
  requests bigint not null,
  refused_limit bigint not null,
  refused_labels bigint not null,
  refused_other bigint not null,
  failed bigint not null,
  bytes_in bigint not null,
  bytes_out bigint not null,
  duration_ms bigint not null,
  -- rises with each report
  changes bigint not null default 1,
  is_stated boolean not null default false,
  primary key (organization_id, month, service, policy)
) with (fillfactor = 70);
--> statement-breakpoint
create index usage_months_unstated on audit.usage_months (month, organization_id) where not is_stated;
--> statement-breakpoint
insert into audit.usage_months (organization_id, month, service, policy, requests, refused_limit, refused_labels,
  refused_other, failed, bytes_in, bytes_out, duration_ms)
select organization_id, to_char(hour at time zone 'UTC', 'YYYY-MM'), service, '', sum(requests), sum(refused_limit),
  sum(refused_labels), sum(refused_other), sum(failed), sum(bytes_in), sum(bytes_out), sum(duration_ms)
from audit.usage_counts group by 1, 2, 3;
--> statement-breakpoint
-- Statements of usage: an entry of the chain of the organization. It has the next place in its chain.
create table audit.statements (
  chain_id bigint not null,
  position bigint not null,
  organization_id text collate "C" not null,
  month text collate "C" not null,
  -- counts the statements of the month: those after the first are corrections
  number integer not null,
  stated_at timestamptz(3) not null,
  -- all fields of the entry as it was hashed, without its owner, kind and salt
  statement json not null,
  chain bytea not null,
  salt bytea not null,
  primary key (chain_id, position),
  unique (organization_id, month, number)
);
--> statement-breakpoint
create trigger no_change before update or delete or truncate on audit.statements
  for each statement execute function audit.refuse_change();
