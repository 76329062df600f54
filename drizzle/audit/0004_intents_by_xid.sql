-- The transaction that wrote an intent is found by its request id, whose row never changes: an index on the event
-- itself got its entry anew with the outcome.
alter table audit.request_ids add column xid xid8;
--> statement-breakpoint
alter table audit.request_ids alter column xid set default pg_current_xact_id();
--> statement-breakpoint
alter table audit.request_ids disable trigger no_change;
--> statement-breakpoint
-- What is not sealed yet; the rest is never looked for.
update audit.request_ids known set xid = event.intent_xid
from audit.audit_events event
where event.intent_xid >= (select pg_snapshot_xmin(sealed_to) from audit.sealer)
  and known.request_id = event.request_id and known.id = event.id;
--> statement-breakpoint
alter table audit.request_ids enable trigger no_change;
--> statement-breakpoint
create index intents_by_xid on audit.request_ids (xid) where xid is not null;
--> statement-breakpoint
drop index audit.events_by_intent_xid;
