import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";
import postgres from "postgres";
import { removeFoldersOfFile } from "../temporary-folder.ts";
import { images, startContainer } from "./docker-server.ts";
import { type EtcdCluster, startEtcdBinary, startEtcdNodes } from "./etcd-server.ts";
import { type PostgresPair, startPostgresNodes } from "./postgres-pair.ts";
import { startPostgresBinary } from "./postgres-server.ts";
import { REDIS_DATABASES, startRedisBinary } from "./redis-server.ts";
import type { TestServer } from "./server.ts";
import { describeServices, locateServices, type ServiceName, type Source } from "./stores-under-test.ts";

/**
 * Settings of PostgreSQL for hundreds of small databases that exist for seconds. Autovacuum would start a
 * process ten times a second, and compiling a query takes longer than running it.
 */
const SMALL_DATABASES = { autovacuum: "off", jit_above_cost: "-1" };
/** The `server_version_num` of the first PostgreSQL version with `strategy file_copy`. */
const COPIES_FILES = 150_000;

/** The capabilities of this run for one kind of store. */
export interface Service {
  /** Whether the run has a real server, and a test can start its own. Otherwise, tests use the embedded store. */
  real: boolean;
  /** Whether a test's own server runs from its binary and accepts settings. */
  binary: boolean;
}

let sources: Record<ServiceName, Source> | undefined;
/** The servers that all tests of this process share. Each starts when the first test needs it. */
const shared = new Map<ServiceName, Promise<TestServer>>();
/** The servers that the tests of one file started for themselves. */
const ofFile = new Set<TestServer>();

/** Sets up the servers of this run from its environment variables. `preload.ts` calls this function once. */
export function useServices(environment: Record<string, string | undefined>) {
  const located = locateServices(environment);
  sources ??= located;
  return { describe: () => describeServices(located), endFile, close };
}

/** Ends the servers that the tests of one file started for themselves, and removes the file's folders. */
async function endFile(): Promise<void> {
  const started = [...ofFile];
  ofFile.clear();
  await Promise.allSettled(started.map((server) => server.close()));
  await removeFoldersOfFile();
}

/** Ends all servers. The leash removes the directories of shared servers later, because that takes long. */
async function close(): Promise<void> {
  const ended = [...shared.values()];
  shared.clear();
  await Promise.allSettled([endFile(), ...ended.map(async (server) => (await server).kill())]);
}

function sourceOf(name: ServiceName): Source {
  if (sources === undefined) throw new Error("tests/support/preload.ts did not run; see bunfig.toml.");
  return sources[name];
}

function binaryOf(name: ServiceName): string {
  const source = sourceOf(name);
  if (source.kind === "binary") return source.binary;
  throw new Error(`This run has no binary of ${name}. Check services().${name}.binary first.`);
}

/** Returns the capabilities of this run for each kind of store. */
export function services(): Record<ServiceName, Service> {
  const service = (name: ServiceName): Service => {
    const source = sourceOf(name);
    return { real: source.kind !== "embedded", binary: "binary" in source };
  };
  return { postgres: service("postgres"), redis: service("redis"), etcd: service("etcd") };
}

function start(name: ServiceName, settings: string[] = [], secureUrl?: string): Promise<TestServer> {
  if (sourceOf(name).kind === "docker") return startContainer(images[name]);
  const binary = binaryOf(name);
  switch (name) {
    case "postgres":
      return startPostgresBinary(binary, SMALL_DATABASES);
    case "redis":
      return startRedisBinary(binary, settings);
    case "etcd":
      return startEtcdBinary(binary, settings, secureUrl);
  }
}

/** Returns the URL of a server that all tests share. Returns undefined when tests use the embedded store. */
async function sharedUrl(name: ServiceName): Promise<string | undefined> {
  if (sourceOf(name).kind === "embedded") return undefined;
  return (await shared.getOrInsertComputed(name, () => start(name))).url;
}

/**
 * Returns the URL of a new database on the shared PostgreSQL, or `pglite://memory` without a server. The
 * database is empty, or a copy of the database `template`, which must not have connections.
 */
export async function freshDatabase(template = "template0"): Promise<string> {
  const server = await sharedUrl("postgres");
  if (server === undefined) return "pglite://memory";
  const name = `test_${randomBytes(8).toString("hex")}`;
  const sql = postgres(server, { max: 1, onnotice: () => {} });
  try {
    const [version] = await sql<[{ copies: boolean }]>`
      select current_setting('server_version_num')::integer >= ${COPIES_FILES} as copies`;
    // The default strategy writes each page of the template to the write-ahead log, which is slower.
    const strategy = version.copies ? "strategy file_copy" : "";
    await sql.unsafe(`create database ${name} template ${template} ${strategy}`);
  } finally {
    await sql.end();
  }
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** Returns the URL of an empty route store: a new etcd, or `memory://`. */
export async function freshRouteStoreUrl(): Promise<string> {
  return services().etcd.real ? (await startEtcd()).url : "memory://";
}

/**
 * Returns the URL of an empty counter store: a database of the shared Redis, or `memory://` without a server.
 */
export async function freshCounterStoreUrl(): Promise<string> {
  const server = await sharedUrl("redis");
  if (server === undefined) return "memory://";
  const client = new Redis(server);
  try {
    // Database 0 contains only the number of databases that all processes have taken so far.
    const taken = await client.incr("databases taken");
    const database = 1 + (taken % (REDIS_DATABASES - 1));
    await client.select(database);
    await client.flushdb();
    const url = new URL(server);
    url.pathname = `/${database}`;
    return url.href;
  } finally {
    client.disconnect();
  }
}

// The functions below start servers that only the calling test uses. Docker ignores their settings.

async function startOwn(...given: Parameters<typeof start>): Promise<TestServer> {
  const server = await start(...given);
  ofFile.add(server);
  return server;
}

export const startPostgres = () => startOwn("postgres");

export const startRedis = (settings?: string[]) => startOwn("redis", settings);

/** @param secureUrl a second URL for clients, over TLS */
export const startEtcd = (settings?: string[], secureUrl?: string) => startOwn("etcd", settings, secureUrl);

/** Starts an etcd cluster of three nodes. */
export async function startEtcdCluster(): Promise<EtcdCluster> {
  const cluster = await startEtcdNodes(binaryOf("etcd"));
  for (const node of cluster.nodes) ofFile.add(node);
  return cluster;
}

/** Starts a PostgreSQL with a standby. */
export async function startPostgresPair(): Promise<PostgresPair> {
  const pair = await startPostgresNodes(binaryOf("postgres"));
  ofFile.add(pair.primary).add(pair.standby);
  return pair;
}
