-- A policy has a window or a calendar period, may have numbers of its own for plans, and may charge success alone.
alter table routes.policies
  alter column window_seconds drop not null,
  add column period text check (period in ('day', 'month')),
  add column plans jsonb,
  add column charge text check (charge = any (array['success']));
