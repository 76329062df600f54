/** A part of a library that the product uses although the library does not document it. */
export interface Internal {
  readonly library: string;
  /** The sentence after "The library still", in the words of the contract. */
  readonly does: string;
  readonly used_in: readonly string[];
  /** The effect on the product when the library changes. */
  readonly otherwise: string;
}

/** Every undocumented part of a library that the product depends on. Each one has a contract test. */
export const internals = {
  elysia_errors: {
    library: "elysia",
    does: "takes the error classes of its generated handlers from the adapter",
    used_in: ["lib/runtime/http/errors.ts"],
    otherwise: "a body that does not fit its schema is answered without its fields, or costs a long log line",
  },
  elysia_routes: {
    library: "elysia",
    does: "lists method, path and hooks of its routes",
    used_in: ["lib/runtime/http/app.ts", "lib/openapi"],
    otherwise: "descriptions are empty, and a wrong method is 404 in place of 405",
  },
  drizzle_client: {
    library: "drizzle-orm",
    does: "calls no other methods of postgres.js than `unsafe`, `begin` and `savepoint`",
    used_in: ["lib/runtime/stores/database/orm.ts", "lib/runtime/stores/database/postgres.ts"],
    otherwise: "statements fail, because the watched client has no other methods",
  },
  drizzle_prepared: {
    library: "drizzle-orm",
    does: "prepares a query by `session.prepareQuery` and names the fields of a select",
    used_in: ["lib/runtime/stores/database/prepared.ts"],
    otherwise: "prepared reads return rows without their fields",
  },
  postgres_pid: {
    library: "postgres",
    does: "keeps the process id of the server in `state.pid` of a statement",
    used_in: ["lib/runtime/stores/database/watchdog.ts", "lib/runtime/stores/database/lost-backends.ts"],
    otherwise: "statements on a dead connection wait for the statement timeout",
  },
  postgres_hosts: {
    library: "postgres",
    does: "takes host and port as lists and leaves their items whole",
    used_in: ["lib/runtime/stores/database/primary-search.ts"],
    otherwise: "IPv6 addresses of databases are cut at their colons",
  },
  prom_client_text: {
    library: "prom-client",
    does: "writes a metric from what its `getForPromString` returns",
    used_in: ["lib/runtime/telemetry/duration-histogram.ts", "lib/runtime/telemetry/metrics-export.ts"],
    otherwise: "histograms of durations are empty",
  },
  prom_client_remove: {
    library: "prom-client",
    does: "omits a gauge without labels after `remove()`",
    used_in: ["lib/runtime/telemetry/collected.ts"],
    otherwise: "a gauge without a reading is reported as 0",
  },
  etcd3_faults: {
    library: "etcd3",
    does: "reports each failed call as it is, with fault handling off",
    used_in: ["lib/runtime/stores/route-store/etcd-endpoint.ts"],
    otherwise: "calls fail by a circuit breaker of the library after the node is back",
  },
  ioredis_scripts: {
    library: "ioredis",
    does: "defines the commands of `scripts` and has `refreshSlotsCache`",
    used_in: ["lib/runtime/stores/counter-store/redis.ts"],
    otherwise: "no request is counted, or a cluster's failover stays unnoticed",
  },
  pino_drop: {
    library: "pino",
    does: "hands the dropped text to `drop`, and `drain` follows a write",
    used_in: ["lib/runtime/telemetry/line-blocks.ts"],
    otherwise: "dropped log lines are not counted, and `flush` waits for nothing",
  },
  pino_exit: {
    library: "pino",
    does: "calls `flushSync` of its destination when the process exits",
    used_in: ["lib/runtime/telemetry/line-blocks.ts"],
    otherwise: "the last log lines of a process are lost",
  },
} as const satisfies Record<string, Internal>;
