-- The route tests of a revision. They stand beside its config, so that route stores and older registries get the config alone.
create table routes.route_tests (
  service text collate "C" not null,
  revision integer not null,
  tests json not null check (json_typeof(tests) = 'array'),
  primary key (service, revision),
  foreign key (service, revision) references routes.revisions
);
