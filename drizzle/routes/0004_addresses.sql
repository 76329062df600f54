-- The canonical host and port of each current service, by which a publisher's write finds the services at an address.
alter table routes.services add column address text collate "C";
--> statement-breakpoint
update routes.services as service
set address = lower(regexp_replace(revision.config ->> 'url', '^http://', ''))
from routes.revisions as revision
where not service.deleted and revision.service = service.name and revision.revision = service.revision;
--> statement-breakpoint
create index services_address on routes.services (address) where not deleted;
