-- The requests that a quota admits, by the plan of its last charge. Organizations read it beside the count.
alter table audit.quota_counts add column requests bigint;
--> statement-breakpoint
create index quota_counts_by_subject on audit.quota_counts (subject, period);
