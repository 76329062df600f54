/** An undocumented behavior of a library that the product depends on. */
export interface Internal {
  readonly library: string;
  /** The behavior, as a predicate whose subject is the library's name. */
  readonly does: string;
  /** The paths of the code that depends on the behavior. */
  readonly usedIn: readonly string[];
  /** The effect on the product if the behavior changes, as a clause. */
  readonly otherwise: string;
}

/** All undocumented behaviors of libraries that the product depends on. Each one has a contract test. */
export const internals = {
  elysia_errors: {
    library: "elysia",
    does: "takes the error classes of its generated handlers from the adapter",
    usedIn: ["lib/runtime/http/errors.ts"],
    otherwise:
      "a response to an invalid body does not name the fields, or an invalid body causes a long log line",
  },
  elysia_routes: {
    library: "elysia",
    does: "lists method, path and hooks of its routes",
    usedIn: ["lib/runtime/http/app.ts", "lib/openapi"],
    otherwise: "descriptions are empty, and a wrong method gets 404 instead of 405",
  },
  elysia_swagger: {
    library: "@elysiajs/swagger",
    does: "lists the operations of an app's routes, and leaves unknown keywords in their schemas",
    usedIn: ["lib/runtime/http/openapi.ts"],
    otherwise: "descriptions lack operations, or the texts and samples of their fields",
  },
  drizzle_client: {
    library: "drizzle-orm",
    does: "calls no other method of postgres.js than `unsafe` outside of its own transactions",
    usedIn: ["lib/runtime/stores/database/orm.ts", "lib/runtime/stores/database/unit.ts"],
    otherwise: "statements fail, because the client has no other methods",
  },
  drizzle_prepared: {
    library: "drizzle-orm",
    does: "prepares a query with `session.prepareQuery` and exposes the fields of a select",
    usedIn: ["lib/runtime/stores/database/prepared.ts"],
    otherwise: "prepared reads return rows without their fields",
  },
  postgres_socket: {
    library: "postgres",
    does: "asks `socket` for each connection, fails statements if it throws, and returns `command` and `state.pid`",
    usedIn: ["lib/runtime/stores/database/connection.ts", "lib/runtime/stores/database/unit.ts"],
    otherwise: "statements of a lost transaction run outside of it, and COMMIT is not checked",
  },
  etcd3_faults: {
    library: "etcd3",
    does: "throws the error of each failed call unchanged if its fault handling is off",
    usedIn: ["lib/runtime/stores/route-store/etcd-client.ts"],
    otherwise: "calls still fail after the node is back, because of the library's circuit breaker",
  },
  etcd3_channel: {
    library: "etcd3",
    does: "makes its channel with `channelFactoryOverride`, and closes and replaces it after a failed call",
    usedIn: ["lib/runtime/stores/route-store/etcd-client.ts"],
    otherwise: "the registry and the gateway open ever more connections to a restarted node, or none",
  },
  grpc_sockets: {
    library: "@grpc/grpc-js",
    does: "connects with `_createSecureConnector` of the credentials, and waits for `waitForReady` before",
    usedIn: ["lib/runtime/stores/route-store/etcd-client.ts"],
    otherwise: "connections to a silent etcd stay open for ever",
  },
  ioredis_scripts: {
    library: "ioredis",
    does: "defines the commands of `scripts`",
    usedIn: ["lib/runtime/stores/counter-store/redis.ts"],
    otherwise: "no request is counted",
  },
  pino_drop: {
    library: "pino",
    does: "passes dropped text to `drop`, and emits `drain` after a write",
    usedIn: ["lib/runtime/telemetry/line-blocks.ts"],
    otherwise: "dropped log lines are not counted, and `flush` does not wait",
  },
  pino_exit: {
    library: "pino",
    does: "calls its destination's `flushSync` when the process exits",
    usedIn: ["lib/runtime/telemetry/line-blocks.ts"],
    otherwise: "the last log lines of a process are lost",
  },
} as const satisfies Record<string, Internal>;
