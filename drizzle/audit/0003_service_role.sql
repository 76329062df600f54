-- What lets the service run as a role that owns nothing of the log: `ostiary audit migrate --role …` grants
-- it its work, and its owner's rights are borrowed for one thing alone, a partition that is missing.

-- One replica at a time. A caller can choose the month and nothing else, not even where a name leads to.
create function audit.make_partition(month text) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  partition text := 'audit_events_' || replace(month, '-', '_');
  begins date;
begin
  if month !~ '^20[0-9]{2}-(0[1-9]|1[0-2])$' then
    raise exception 'a partition is for a month from 2000-01 to 2099-12' using errcode = 'invalid_parameter_value';
  end if;
  begins := (month || '-01')::date;
  perform pg_advisory_xact_lock(hashtextextended('partitions of audit_events', 0));
  if to_regclass(format('audit.%I', partition)) is not null then
    return false;
  end if;
  -- made aside and attached: unlike `create table … partition of`, that never waits for or stops a writer
  execute format('create table audit.%I (like audit.audit_events including all)', partition);
  execute format(
    'alter table audit.audit_events attach partition audit.%I for values from (%L) to (%L)',
    partition, begins || ' 00:00:00Z', (begins + interval '1 month')::date || ' 00:00:00Z');
  execute format(
    'create trigger no_truncate before truncate on audit.%I for each statement execute function audit.refuse_change()',
    partition);
  return true;
end
$$;
--> statement-breakpoint
revoke all on function audit.make_partition(text) from public;
--> statement-breakpoint
-- An operator of the caller's own, found by the caller's own search path, could find that a change is allowed.
alter function audit.refuse_all_but_outcome() set search_path = pg_catalog, pg_temp;
