import { join } from "node:path";
import { VALIDATE_PATH } from "@ostiary/lib/contracts/internal-api";
import { freePort } from "../../../support/http/free-port.ts";
import { type Proxy as NetworkProxy, startProxy } from "../../../support/http/proxy.ts";
import { Balancer, type Replica as Door } from "../../../support/load/balancer.ts";
import type { Random } from "../../../support/random.ts";
import { ROOT } from "../../../support/root.ts";
import { RunImpossible } from "../../../support/run-impossible.ts";
import { BinaryTestServer } from "../../../support/stores/binary-server.ts";
import { startEtcdBinary } from "../../../support/stores/etcd-server.ts";
import { startPostgresBinary } from "../../../support/stores/postgres-server.ts";
import { startRedisBinary } from "../../../support/stores/redis-server.ts";
import { runSql } from "../../../support/stores/sql.ts";
import { locateServices } from "../../../support/stores/stores-under-test.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { waitFor } from "../../../support/time/wait-for.ts";
import { BROKEN_REPLICA } from "../cell-run.ts";
import { EVENT_INTERVAL_MS, LIMITS } from "../clients.ts";
import { ADMIN_TOKEN, INTERNAL_TOKEN } from "./asking.ts";
import { ProcessClock, type SettableClock } from "./clock.ts";
import { Directory } from "./directory.ts";
import { People } from "./people.ts";
import { type Replica, startReplica, statusOf } from "./replica.ts";
import { thingsService, VERSION_PATH, versionedService } from "./routes.ts";

const READY_MS = 60_000;

/** A server, and the network link that all other processes connect to. */
export interface Linked {
  readonly server: BinaryTestServer;
  readonly link: NetworkProxy;
}

export interface Services {
  /** The source folders of the first and of the second process of each service. */
  readonly roots: readonly [string, string];
  readonly variables: Readonly<Record<string, string>>;
  readonly audit?: Readonly<Record<string, string>>;
  /**
   * The path of libfaketime, which PostgreSQL and one audit replica load; null if a run injects no clock
   * faults.
   */
  readonly clockLibrary?: string | null;
  /** Returns the URL at which a gateway reaches identity, given that of a balancer. By default they are the same. */
  readonly wayToIdentity?: (gateway: number, balanced: string) => Promise<string>;
}

export type Progress = (line: string) => void;

/**
 * The whole system as processes: two replicas of each service, real stores, and network links that can fail.
 */
export class System implements AsyncDisposable {
  readonly #ends = new AsyncDisposableStack();
  readonly #services: Services;
  readonly #stores: Readonly<Record<"postgres" | "redis" | "etcd", Linked>>;
  readonly upstream: Linked;
  readonly #ownClocks: OwnClocks | null;
  /** The file in which the upstream service records requests. */
  readonly reachedFile: string;
  identity: Replica[] = [];
  audit: Replica[] = [];
  registries: Replica[] = [];
  gateways: Replica[] = [];
  #people: People | undefined;
  readonly #peers = new Map<number, string>();
  #gatewayDoors: Doors | undefined;
  #registryDoors: Doors | undefined;
  readonly #doors: Doors[] = [];

  /** @throws RunImpossible if PostgreSQL, Redis or etcd is not installed */
  static async start(
    progress: Progress,
    services: Services = { roots: [ROOT, ROOT], variables: {} },
  ): Promise<System> {
    progress("starting PostgreSQL, Redis, etcd and the upstream service");
    const library = services.clockLibrary ?? null;
    const clocks = library === null ? null : await makeClocks(library);
    const stores = await startStores(clocks?.postgres.variables);
    const directory = temporaryFolder("faults");
    const reachedFile = join(directory, "reached");
    const upstream = await startUpstream(reachedFile);
    const system = new System(services, stores, upstream, reachedFile, clocks);
    try {
      progress("starting two of each: identity, audit, registry, gateway");
      await system.#startServices();
      await system.publish("things", thingsService(upstream.link.url), "/things/public", 200);
      await system.publish("versioned", versionedService(upstream.link.url, 0), VERSION_PATH, 200);
    } catch (error) {
      await system[Symbol.asyncDispose]();
      throw error;
    }
    return system;
  }

  private constructor(
    services: Services,
    stores: Readonly<Record<"postgres" | "redis" | "etcd", Linked>>,
    upstream: Linked,
    reachedFile: string,
    clocks: OwnClocks | null,
  ) {
    this.#services = services;
    this.#stores = stores;
    this.upstream = upstream;
    this.reachedFile = reachedFile;
    this.#ownClocks = clocks;
    for (const linked of [...Object.values(stores), upstream]) this.#endWith(linked);
    this.#name("PostgreSQL", stores.postgres.link.url);
    this.#name("Redis", stores.redis.link.url);
    this.#name("etcd", stores.etcd.link.url);
    this.#name("the service", upstream.link.url);
  }

  get postgres(): Linked {
    return this.#stores.postgres;
  }

  /** The clocks that can be set. Both are null without {@link Services.clockLibrary}. */
  get clocks(): Readonly<Record<"postgres" | "audit", SettableClock | null>> {
    const clocks = this.#ownClocks;
    if (clocks === null) return { postgres: null, audit: null };
    const { url } = this.postgres.server;
    const audit = started(this.audit[BROKEN_REPLICA]);
    return {
      postgres: clocks.postgres.readBy(() => timeOfPostgres(url)),
      audit: clocks.audit.readBy(() => timeOfResponses(audit.internalUrl)),
    };
  }

  get redis(): Linked {
    return this.#stores.redis;
  }

  get etcd(): Linked {
    return this.#stores.etcd;
  }

  get people(): People {
    return started(this.#people);
  }

  /** Returns a client of both replicas of identity, which chooses one of them by `random`. */
  directory(random: Random): Directory {
    return new Directory(this.identity, this.people.provider.issuer, random);
  }

  nextGateway() {
    return chosenBy(started(this.#gatewayDoors));
  }

  nextRegistry() {
    return chosenBy(started(this.#registryDoors));
  }

  /** Waits until all balancers in front of a replica know that it is ready. */
  async noticed(replica: Replica): Promise<void> {
    const isNoticed = () =>
      this.#doors.every(({ balancer, doors }) =>
        doors.every((door) => door.replica !== replica || balancer.ready.includes(door)),
      );
    await waitFor(isNoticed, { timeoutMs: READY_MS, what: `the balancers to notice ${replica.name}` });
  }

  /** Publishes a service at a registry. Returns the response status, or null if there is no response. */
  async put(registry: string, service: string, config: object): Promise<number | null> {
    try {
      const response = await fetch(`${registry}/services/${service}`, {
        method: "PUT",
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
        body: JSON.stringify(config),
        signal: AbortSignal.timeout(LIMITS.publisherPatienceMs),
        // An earlier fault may have silenced a kept-alive connection. A failure on it would count for this
        // fault.
        keepalive: false,
      });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return null;
    }
  }

  /** Publishes a service. Resolves when every gateway responds to `GET path` with `status`. */
  async publish(name: string, config: object, path: string, status: number): Promise<void> {
    const isPublished = async () => {
      const status = await this.put(this.nextRegistry().url, name, config);
      if (status !== 200) throw new Error(`The registry refused the service: ${status}`);
      return true;
    };
    await waitFor(isPublished, { timeoutMs: READY_MS, what: `the service ${name} at a registry` });
    for (const { url } of this.gateways) {
      await waitFor(async () => (await statusOf(url + path)) === status, {
        timeoutMs: READY_MS,
        what: `${status} for ${path} at the gateway ${url}`,
      });
    }
  }

  replicas(): Replica[] {
    return [...this.identity, ...this.audit, ...this.registries, ...this.gateways];
  }

  /** The names of all peers that processes of the four services connect to, by port. */
  get peers(): ReadonlyMap<number, string> {
    return this.#peers;
  }

  /** Returns the ids of the running processes, by name. Child processes of PostgreSQL are not included. */
  pids(): ReadonlyMap<string, number> {
    const stores = Object.entries(this.#stores).map(([name, { server }]) => ({ name, server }));
    const all = [...this.replicas(), ...stores, { name: "upstream", server: this.upstream.server }];
    return new Map(
      all.flatMap(({ name, server }) => (server.pid === undefined ? [] : [[name, server.pid] as const])),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ends.disposeAsync();
  }

  async #startServices(): Promise<void> {
    const database = { DATABASE_URL: this.postgres.link.url, INTERNAL_AUTH_TOKEN: INTERNAL_TOKEN };
    const ROUTE_STORE_URL = this.etcd.link.url;
    [this.identity, this.audit, this.registries] = await Promise.all([
      this.#startTwo("identity", { ...database, ROLES_FILE: join(ROOT, "seeds/roles.yaml") }),
      this.#startTwo("audit", { ...database, ...this.#services.audit }),
      this.#startTwo("registry", { DATABASE_URL: database.DATABASE_URL, ROUTE_STORE_URL, ADMIN_TOKEN }),
    ]);
    const [first] = this.identity;
    const people = await People.start(started(first));
    this.#people = people;
    this.#ends.defer(() => people.stop());
    const identity = await this.#internalDoor(this.identity);
    const audit = await this.#internalDoor(this.audit);
    this.#name("identity", identity.url);
    this.#name("audit", audit.url);
    this.#name("the identity provider", people.provider.jwks_uri);
    const { wayToIdentity = async () => identity.url } = this.#services;
    const ways = await Promise.all([0, 1].map((gateway) => wayToIdentity(gateway, identity.url)));
    this.gateways = await this.#startTwo("gateway", (number) => ({
      ROUTE_STORE_URL,
      COUNTER_STORE_URL: this.redis.link.url,
      CREDENTIAL_VALIDATE_URL: `${ways[number]}${VALIDATE_PATH}`,
      AUDIT_URL: audit.url,
      AUTH_ISSUER: people.provider.issuer,
      AUTH_JWKS_URI: people.provider.jwks_uri,
      INTERNAL_AUTH_TOKEN: INTERNAL_TOKEN,
      RATE_LIMIT_AUTH_FAILURE_REQUESTS: "0",
      APIKEY_CACHE_TTL_SECS: String(LIMITS.cacheTtlS),
      VALIDATE_TIMEOUT_MS: String(LIMITS.validateMs),
      UPSTREAM_TIMEOUT_MS: String(LIMITS.upstreamMs),
      UPSTREAM_IDLE_TIMEOUT_MS: String(LIMITS.upstreamMs),
      // With this value, idle connections that a fault has silenced are closed before the next fault ends.
      UPSTREAM_KEEP_ALIVE_MS: "2000",
    }));
    this.#gatewayDoors = this.#balancer(this.gateways, "public");
    this.#registryDoors = this.#balancer(this.registries, "public");
  }

  /** Starts two replicas of a service. If their versions differ, they start one by one, as in an upgrade. */
  async #startTwo(
    app: string,
    variables: Record<string, string> | ((number: number) => Record<string, string>),
  ): Promise<Replica[]> {
    const [first, second] = this.#services.roots;
    const start = (number: number, root: string) =>
      this.#startOne(app, number, typeof variables === "function" ? variables(number) : variables, root);
    if (first === second) return Promise.all([start(0, first), start(1, second)]);
    return [await start(0, first), await start(1, second)];
  }

  async #startOne(app: string, number: number, variables: Record<string, string>, root: string) {
    const every = this.#services.variables;
    const hasClock = app === "audit" && number === BROKEN_REPLICA;
    const clock = hasClock ? this.#ownClocks?.audit.variables : undefined;
    const replica = await startReplica(app, number, { ...variables, ...every, ...clock }, root);
    this.#ends.defer(() => replica.server.close());
    for (const link of Object.values(replica.links)) this.#ends.defer(() => link.close());
    return replica;
  }

  #name(peer: string, url: string): void {
    this.#peers.set(Number(new URL(url).port), peer);
  }

  async #internalDoor(replicas: readonly Replica[]): Promise<NetworkProxy> {
    const door = await this.#balancer(replicas, "internal").balancer.listen("url");
    this.#ends.defer(() => door.close());
    return door;
  }

  #balancer(replicas: readonly Replica[], port: "public" | "internal"): Doors {
    const balancer = new Balancer<DoorOf>();
    const doors = replicas.map((replica) => {
      const { links } = replica;
      return { replica, url: links[port].url, internalUrl: links.internal.url };
    });
    for (const door of doors) balancer.add(door, true);
    this.#ends.defer(() => balancer.stop());
    const made = { balancer, doors };
    this.#doors.push(made);
    return made;
  }

  #endWith({ server, link }: Linked): void {
    this.#ends.defer(() => server.close());
    this.#ends.defer(() => link.close());
  }
}

/** A replica behind a balancer, with the links that lead to it. */
interface DoorOf extends Door {
  readonly replica: Replica;
}

interface Doors {
  readonly balancer: Balancer<DoorOf>;
  readonly doors: readonly DoorOf[];
}

/** Returns the index and the URL of the replica that a balancer chooses next. */
function chosenBy({ balancer, doors }: Doors): { replica: number; url: string } {
  const door = balancer.next();
  return { replica: doors.indexOf(door), url: door.url };
}

type OwnClocks = Readonly<Record<"postgres" | "audit", ProcessClock>>;

async function makeClocks(library: string): Promise<OwnClocks> {
  return {
    postgres: await ProcessClock.make(library),
    audit: await ProcessClock.make(library),
  };
}

async function timeOfPostgres(url: string): Promise<number> {
  const [row] = await runSql(url, "select extract(epoch from clock_timestamp())::float8 * 1000 as ms");
  return Number(row?.ms);
}

/** Returns the time in the `Date` header of a response. */
async function timeOfResponses(url: string): Promise<number> {
  const response = await fetch(`${url}/health/live`, { keepalive: false });
  return Date.parse(response.headers.get("date") ?? "");
}

async function startStores(variablesOfPostgres?: Readonly<Record<string, string>>) {
  const sources = locateServices(process.env);
  const binary = (name: "postgres" | "redis" | "etcd") => {
    const source = sources[name];
    if ("binary" in source && source.binary !== undefined) return source.binary;
    throw new RunImpossible(`This run needs the program ${name}: install it and run the command again.`);
  };
  const [postgres, redis, etcd] = await Promise.all([
    startPostgresBinary(binary("postgres"), {}, variablesOfPostgres),
    startRedisBinary(binary("redis")),
    startEtcdBinary(binary("etcd")),
  ]);
  return { postgres: await linked(postgres), redis: await linked(redis), etcd: await linked(etcd) };
}

async function startUpstream(reachedFile: string): Promise<Linked> {
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  const entry = join(import.meta.dir, "../upstream/main.ts");
  const server = new BinaryTestServer({
    url,
    directory: temporaryFolder("upstream"),
    command: [process.execPath, entry, String(port), reachedFile, String(EVENT_INTERVAL_MS)],
    ready: async () => (await statusOf(`${url}/ready`)) === 200,
    crash: "SIGKILL",
    shutdown: "SIGTERM",
  });
  await server.start();
  return linked(server);
}

async function linked(server: BinaryTestServer): Promise<Linked> {
  return { server, link: await startProxy(server.url) };
}

function started<T>(part: T | undefined): T {
  if (part === undefined) throw new Error("The system has not been started.");
  return part;
}
