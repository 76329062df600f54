import { randomBytes } from "node:crypto";
import { Etcd3 } from "etcd3";
import { Redis } from "ioredis";
import postgres from "postgres";
import { Leash } from "./clean-up-after-kill.ts";
import { images, startContainer } from "./docker-server.ts";
import { type EtcdCluster, startEtcdBinary, startEtcdNodes } from "./etcd-server.ts";
import {
  canStart,
  describeServices,
  locateServices,
  type ServiceName,
  type Source,
  variable,
} from "./locate.ts";
import { type PostgresPair, startPostgresNodes } from "./postgres-pair.ts";
import { startPostgresBinary } from "./postgres-server.ts";
import { REDIS_DATABASES, REDIS_DATABASES_DEFAULT, startRedisBinary } from "./redis-server.ts";
import type { TestServer } from "./server.ts";

/** The servers of one store that this run has. */
export interface Service {
  /** Whether a real server is there; otherwise only the embedded store. */
  real: boolean;
  /** Whether `start…()` works, which tests of outages need. */
  own: boolean;
  /** Whether these servers run from a binary, and so accept settings. */
  binary: boolean;
}

/**
 * The servers of one process that runs tests. A shared server starts when a test first needs it, and once. A
 * test's own servers end with its file.
 */
class Services {
  readonly #sources: Record<ServiceName, Source>;
  readonly #alone: boolean;
  readonly #shared = new Map<ServiceName, Promise<TestServer>>();
  readonly #ofFile = new Set<TestServer>();
  #leash: Leash | undefined;

  /** @param alone whether no other process runs tests on the servers that `environment` names */
  constructor(environment: Record<string, string | undefined>, alone: boolean) {
    this.#sources = locateServices(environment);
    this.#alone = alone;
  }

  describe(): string {
    return describeServices(this.#sources);
  }

  available(): Record<ServiceName, Service> {
    const service = (name: ServiceName): Service => {
      const source = this.#sources[name];
      return { real: source.kind !== "embedded", own: canStart(source), binary: "binary" in source };
    };
    return { postgres: service("postgres"), redis: service("redis"), etcd: service("etcd") };
  }

  leash(): Leash {
    this.#leash ??= new Leash();
    return this.#leash;
  }

  async start(name: ServiceName, settings: string[] = [], secure_url?: string): Promise<TestServer> {
    const server = await this.#start(name, settings, secure_url);
    this.#ofFile.add(server);
    return server;
  }

  /** Returns the URL of the server that all tests share; undefined when only the embedded store is there. */
  async url(name: ServiceName): Promise<string | undefined> {
    const source = this.#sources[name];
    if (source.kind === "url") return source.url;
    if (source.kind === "embedded") return undefined;
    let server = this.#shared.get(name);
    if (server === undefined) {
      server = this.#start(name, []);
      this.#shared.set(name, server);
    }
    return (await server).url;
  }

  /** Returns the same URL for a store that is emptied before each test. */
  async emptiableUrl(name: ServiceName): Promise<string | undefined> {
    if (this.#sources[name].kind === "url" && !this.#alone)
      throw new Error(
        `${variable(name)} is emptied before each test, so only one process may run tests on it: leave out --parallel.`,
      );
    return this.url(name);
  }

  redisDatabases(): number {
    return this.#sources.redis.kind === "url" ? REDIS_DATABASES_DEFAULT : REDIS_DATABASES;
  }

  /** Ends the servers that the tests of one file started for themselves. */
  async endFile(): Promise<void> {
    const started = [...this.#ofFile];
    this.#ofFile.clear();
    await Promise.allSettled(started.map((server) => server.close()));
  }

  /** Ends every server. The leash removes their directories: deleting hundreds of databases takes long. */
  async close(): Promise<void> {
    const shared = [...this.#shared.values()];
    this.#shared.clear();
    await Promise.allSettled([this.endFile(), ...shared.map(async (server) => (await server).kill())]);
  }

  #start(name: ServiceName, settings: string[], secure_url?: string): Promise<TestServer> {
    const source = this.#sources[name];
    const leash = this.leash();
    if (source.kind === "docker") return startContainer(images[name], leash);
    const binary = source.kind === "embedded" ? undefined : source.binary;
    if (binary === undefined) throw new Error(`No ${name} can be started here; ask services() first.`);
    switch (name) {
      case "postgres":
        return startPostgresBinary(binary, leash);
      case "redis":
        return startRedisBinary(binary, leash, settings);
      case "etcd":
        return startEtcdBinary(binary, leash, settings, secure_url);
    }
  }

  async startEtcdNodes(): Promise<EtcdCluster> {
    const source = this.#sources.etcd;
    if (!("binary" in source) || source.binary === undefined)
      throw new Error("There is no binary of etcd; ask services() first.");
    const cluster = await startEtcdNodes(source.binary, this.leash());
    for (const node of cluster.nodes) this.#ofFile.add(node);
    return cluster;
  }

  async startPostgresNodes(): Promise<PostgresPair> {
    const source = this.#sources.postgres;
    if (!("binary" in source) || source.binary === undefined)
      throw new Error("There is no binary of PostgreSQL; ask services() first.");
    const pair = await startPostgresNodes(source.binary, this.leash());
    this.#ofFile.add(pair.primary).add(pair.standby);
    return pair;
  }
}

let current: Services | undefined;

/** Takes the environment of the run. The preload calls it once. */
export function useServices(environment: Record<string, string | undefined>, alone: boolean): Services {
  current ??= new Services(environment, alone);
  return current;
}

function run(): Services {
  if (current === undefined) throw new Error("tests/support/preload.ts did not run; see bunfig.toml.");
  return current;
}

/** Returns the servers of this run: real ones, and ones that a test may break. */
export function services(): Record<ServiceName, Service> {
  return run().available();
}

/** Returns the leash, which removes what this run would leave behind. */
export function leash(): Leash {
  return run().leash();
}

/** Returns the URL of a new, empty database: on the shared PostgreSQL, or `pglite://memory`. */
export async function freshDatabase(): Promise<string> {
  const server = await run().url("postgres");
  if (server === undefined) return "pglite://memory";
  const name = `test_${randomBytes(8).toString("hex")}`;
  const sql = postgres(server, { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(`create database ${name} template template0`);
  } finally {
    await sql.end();
  }
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/**
 * Returns the URL of an empty route store: its own etcd, the emptied etcd at the given URL, or `memory://`.
 */
export async function freshRouteStoreUrl(): Promise<string> {
  const { etcd } = services();
  if (etcd.own) return (await run().start("etcd")).url;
  const url = await run().emptiableUrl("etcd");
  if (url === undefined) return "memory://";
  const client = new Etcd3({ hosts: url.split(",") });
  try {
    await client.delete().all();
  } finally {
    client.close();
  }
  return url;
}

/** Returns the URL of an empty counter store: its own database on the shared Redis, or `memory://`. */
export async function freshCounterStoreUrl(): Promise<string> {
  const server = await run().url("redis");
  if (server === undefined) return "memory://";
  const client = new Redis(server);
  try {
    // The first database holds only the number of the last database that any process took.
    const taken = await client.incr("databases taken");
    const database = 1 + (taken % (run().redisDatabases() - 1));
    await client.select(database);
    await client.flushdb();
    const url = new URL(server);
    url.pathname = `/${database}`;
    return url.href;
  } finally {
    client.disconnect();
  }
}

/** Starts a PostgreSQL of the test's own. */
export function startPostgres(): Promise<TestServer> {
  return run().start("postgres");
}

/** Starts a Redis of the test's own. `settings` are arguments of redis-server, if it runs from its binary. */
export function startRedis(settings: string[] = []): Promise<TestServer> {
  return run().start("redis", settings);
}

/**
 * Starts an etcd of the test's own. `settings` are arguments of etcd, if it runs from its binary. With
 * `secure_url` it also serves clients there.
 */
export function startEtcd(settings: string[] = [], secure_url?: string): Promise<TestServer> {
  return run().start("etcd", settings, secure_url);
}

/** Starts an etcd of three nodes of the test's own, if it runs from its binary. */
export function startEtcdCluster(): Promise<EtcdCluster> {
  return run().startEtcdNodes();
}

/** Starts a PostgreSQL of the test's own with a standby, if it runs from its binary. */
export function startPostgresPair(): Promise<PostgresPair> {
  return run().startPostgresNodes();
}
