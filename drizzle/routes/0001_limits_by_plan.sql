-- A policy has a window or a calendar period, may have numbers of its own for plans, and may charge success alone.
-- stands for d77666d536fa60726325f18cf2e5707e98be0875ea38f968968c29f1a9dac1f2
alter table routes.policies
  alter column window_seconds drop not null,
  add column period text,
  add column plans jsonb,
  add column charge text;
--> statement-breakpoint
-- Constraints of new columns would read all policies while writers wait.
alter table routes.policies
  add constraint policies_period_check check (period in ('day', 'month')) not valid,
  add constraint policies_charge_check check (charge = any (array['success'])) not valid;
--> statement-breakpoint
alter table routes.policies validate constraint policies_period_check;
--> statement-breakpoint
alter table routes.policies validate constraint policies_charge_check;
