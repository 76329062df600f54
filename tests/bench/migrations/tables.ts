export type SchemaName = "routes" | "identity" | "audit";

/** The rows to insert into a table after a migration has created it. */
export interface Fill {
  readonly name: string;
  /** The migration after which to insert the rows. */
  readonly after: string;
  readonly statements: (rows: number) => readonly string[];
}

const series = (rows: number) => `generate_series(1, ${rows}) n`;

/** The tables that are large in production. */
export const FILLS: readonly Fill[] = [
  {
    name: "routes.revisions",
    after: "0000_routes",
    statements: (rows) => [
      "insert into routes.services values ('large', 1, false, 1, 1)",
      `insert into routes.revisions (service, revision, action, config, request_id, created_at)
       select 'large', n, 'put', '{}', 'r', now() - n * interval '1 second' from ${series(rows)}`,
    ],
  },
  {
    name: "routes.policies",
    after: "0000_routes",
    statements: (rows) => [
      `insert into routes.policies select 'p' || n, 'large', false, 1, 1 from ${series(rows)}`,
    ],
  },
  {
    name: "identity.organizations",
    after: "0000_directory",
    statements: (rows) => [
      `insert into identity.organizations select 'o' || n, 'Acme', now(), now() from ${series(rows)}`,
    ],
  },
  {
    name: "identity.users",
    after: "0000_directory",
    statements: (rows) => [
      `insert into identity.users select 'u' || n, null, 'active', now(), now() from ${series(rows)}`,
    ],
  },
  {
    name: "identity.api_keys",
    after: "0000_directory",
    statements: (rows) => [
      `insert into identity.api_keys (id, user_id, hash, key_prefix, name, created_at)
       select 'k' || n, 'u' || n, 'h' || n, 'p', 'n', now() from ${series(rows)}`,
    ],
  },
  {
    name: "identity.lifecycle_events",
    after: "0000_directory",
    statements: (rows) => [
      `insert into identity.lifecycle_events
       select 'l' || n, 'organization.created', now(), 'o' || n, '{}' from ${series(rows)}`,
    ],
  },
  {
    name: "audit.audit_events",
    after: "0000_audit_events",
    statements: (rows) => [
      // Fill a separate table and attach it as a partition, so that its indexes are built once, at the end.
      "create table audit.month (like audit.audit_events including defaults including constraints)",
      `insert into audit.month (id, occurred_at, request_id, organization_id, actor_auth_type, service,
         method, route, params, ip, outcome)
       select 'e' || n, '2025-01-01Z', 'r' || n, 'o' || n % 1000, 'member_apikey', 's', 'PUT', '/x', '{}', '::1',
         'responded' from ${series(rows)}`,
      `alter table audit.audit_events attach partition audit.month
       for values from ('2020-01-01 00:00:00Z') to ('2030-01-01 00:00:00Z')`,
    ],
  },
  {
    name: "audit.request_ids",
    after: "0000_audit_events",
    statements: (rows) => [
      `insert into audit.request_ids select 'r' || n, '2025-01-01Z', 'e' || n from ${series(rows)}`,
    ],
  },
  {
    name: "audit.chains",
    after: "0002_outcome_salt",
    statements: (rows) => [
      `insert into audit.chains select n, 'organization:o' || n, 1, '\\x00', 1, '[]' from ${series(rows)}`,
    ],
  },
  {
    name: "audit.checkpoints",
    after: "0002_outcome_salt",
    statements: (rows) => [
      `insert into audit.checkpoints select n, now(), '\\x00', '\\x00', null from ${series(rows)}`,
    ],
  },
  {
    name: "audit.entries",
    after: "0002_outcome_salt",
    statements: (rows) => [
      `insert into audit.entries select 1, n, now(), 'e' || n, false, '\\x00', null from ${series(rows)}`,
      // Mark all rows as sealed, because in production the sealer seals events within seconds.
      "update audit.sealer set sealed_to = pg_current_snapshot(), older_kind = null",
    ],
  },
  {
    name: "audit.usage_counts",
    after: "0009_usage",
    statements: (rows) => [
      `insert into audit.usage_counts select 'o' || n, '2025-01-01Z', 's', '/x', 'GET', 'm', '', 1, 0, 0, 0, 0, 0, 0, 0
       from ${series(rows)}`,
    ],
  },
];

/** The statement of a table's writer. Each execution replaces `$n` by a different text. */
export interface Write {
  readonly name: string;
  readonly statement: string;
}

/** A write for each table that services write to. The statements fit the tables of the first release. */
export const WRITES: readonly Write[] = [
  { name: "routes.services", statement: "update routes.services set fence = fence + 1 where name = 'large'" },
  {
    name: "routes.revisions",
    statement: `insert into routes.revisions (service, revision, action, config, request_id)
      select 'large', max(revision) + 1, 'put', '{}', '$n' from routes.revisions where service = 'large'
      having max(revision) is not null`,
  },
  { name: "routes.policies", statement: "update routes.policies set requests = 2 where name = 'p7'" },
  {
    name: "identity.organizations",
    statement: "update identity.organizations set name = '$n' where id = 'o7'",
  },
  { name: "identity.users", statement: "update identity.users set display_name = '$n' where id = 'u7'" },
  { name: "identity.api_keys", statement: "update identity.api_keys set name = '$n' where id = 'k7'" },
  {
    name: "identity.lifecycle_events",
    statement: "insert into identity.lifecycle_events values ('$n', 'member.created', now(), 'o', '{}')",
  },
  {
    name: "audit.audit_events",
    statement: `insert into audit.audit_events (id, occurred_at, request_id, organization_id, actor_auth_type,
      service, method, route, params, ip) select '$n', '2025-01-02Z', '$n', 'o1', 'member_apikey', 's', 'PUT', '/x',
      '{}', '::1' where to_regclass('audit.month') is not null`,
  },
  {
    name: "audit.request_ids",
    statement:
      "insert into audit.request_ids (request_id, occurred_at, id) values ('$n', '2025-01-02Z', '$n')",
  },
  { name: "audit.chains", statement: "update audit.chains set position = position + 1 where id = 7" },
  {
    name: "audit.usage_counts",
    statement: "update audit.usage_counts set requests = 2 where organization_id = 'o7'",
  },
];
