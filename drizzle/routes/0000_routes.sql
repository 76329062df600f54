-- One row. A writer updates it first in its transaction, and so waits for the writer before it; what it
-- gets is its fence: a number greater than every earlier one, also after this database was made anew.
create table routes.writer (
  only_row boolean primary key default true check (only_row),
  last_fence bigint not null
);
--> statement-breakpoint
insert into routes.writer (last_fence) values (0);
--> statement-breakpoint
-- A service that was ever written. Its config is that of its current revision.
create table routes.services (
  name text collate "C" primary key,
  revision integer not null check (revision > 0),
  deleted boolean not null,
  fence bigint not null,
  projected_fence bigint
);
--> statement-breakpoint
create index services_outstanding on routes.services (fence) where projected_fence is distinct from fence;
--> statement-breakpoint
create table routes.revisions (
  service text collate "C" not null references routes.services,
  revision integer not null check (revision > 0),
  action text not null check (action in ('apply', 'put', 'delete', 'restore')),
  restored_from integer check (restored_from < revision),
  -- the stored form, byte for byte as it is projected; null: deleted
  config json,
  request_id text not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (service, revision),
  check ((action = 'delete') = (config is null)),
  check ((action = 'restore') = (restored_from is not null))
);
--> statement-breakpoint
-- What current services own: one method and shape belongs to one service. Of several paths of one service
-- with the same shape the first stands here.
create table routes.owned_routes (
  method text not null,
  shape text collate "C" not null,
  service text collate "C" not null references routes.services,
  path text not null,
  primary key (method, shape)
);
--> statement-breakpoint
create index owned_routes_service on routes.owned_routes (service);
--> statement-breakpoint
-- The rate-limit policies of current services.
create table routes.policies (
  name text collate "C" not null,
  service text collate "C" not null references routes.services,
  shared boolean not null,
  requests bigint not null,
  window_seconds bigint not null,
  primary key (name, shared, service)
);
--> statement-breakpoint
create index policies_service on routes.policies (service);
