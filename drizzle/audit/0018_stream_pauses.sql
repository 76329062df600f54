-- The length of the pause before the next attempt. A pause that lasts longer is left over from before the clock was set back.
-- The default is what a replica of an older version may set: a receiver may ask for a day.
alter table audit.streams add column pause_ms bigint not null default 90000000;
--> statement-breakpoint
alter table audit.operator_stream add column pause_ms bigint not null default 90000000;
