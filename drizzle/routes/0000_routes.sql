-- The registry's tables: services, their revisions, and what current services own.

-- One row, which every writer updates first. Writers wait for each other there, and get a fence: a number that is
-- greater than all earlier fences (decision 2).
create table routes.writer (
  only_row boolean primary key default true check (only_row),
  last_fence bigint not null
);
--> statement-breakpoint
insert into routes.writer (last_fence) values (0);
--> statement-breakpoint

-- Every service that was ever written, with its current revision. `projected_fence` is the fence of the last write
-- that is known to be in the route store. `outstanding_since` is when the oldest write was made that the route store
-- may lack, or the last one that it lacked. `address` is the canonical host and port of a current service. `life` is the
-- fence of the write that created the service, also after a deletion.
create table routes.services (
  name text collate "C" primary key,
  revision integer not null check (revision > 0),
  deleted boolean not null,
  fence bigint not null,
  life bigint not null,
  projected_fence bigint,
  outstanding_since timestamptz not null default clock_timestamp(),
  address text collate "C"
);
--> statement-breakpoint
create index services_outstanding on routes.services (fence) where projected_fence is distinct from fence;
--> statement-breakpoint
create index services_address on routes.services (address) where not deleted;
--> statement-breakpoint

-- All revisions of all services. `config` is the text that is projected, byte for byte; null for a deletion. `operator`,
-- `reason` and `link` are null for a seed.
create table routes.revisions (
  service text collate "C" not null references routes.services,
  revision integer not null check (revision > 0),
  action text not null check (action in ('apply', 'put', 'delete', 'restore')),
  restored_from integer check (restored_from < revision),
  config json,
  request_id text not null,
  created_at timestamptz not null default clock_timestamp(),
  operator text,
  reason text,
  link text,
  primary key (service, revision),
  check ((action = 'delete') = (config is null)),
  check ((action = 'restore') = (restored_from is not null))
);
--> statement-breakpoint
create index revisions_newest on routes.revisions (created_at, service, revision);
--> statement-breakpoint
create index revisions_of_operator on routes.revisions (operator, created_at, service, revision);
--> statement-breakpoint

-- The route tests of a revision. They are not in its config, so route stores do not get them.
create table routes.route_tests (
  service text collate "C" not null,
  revision integer not null,
  tests json not null check (json_typeof(tests) = 'array'),
  primary key (service, revision),
  foreign key (service, revision) references routes.revisions
);
--> statement-breakpoint

-- The routes of current services. One service owns a method and a shape; `path` is its first path of that shape.
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

-- The rate-limit policies of current services. A policy has a window or a calendar period.
create table routes.policies (
  name text collate "C" not null,
  service text collate "C" not null references routes.services,
  shared boolean not null,
  requests bigint not null,
  window_seconds bigint,
  period text check (period in ('day', 'month')),
  plans jsonb,
  charge text check (charge = any (array['success'])),
  primary key (name, shared, service)
);
--> statement-breakpoint
create index policies_service on routes.policies (service);
