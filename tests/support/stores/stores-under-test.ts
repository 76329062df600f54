import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";

export type ServiceName = "postgres" | "redis" | "etcd";

/** The source of a store's servers. */
export type Source = { kind: "binary"; binary: string } | { kind: "docker" } | { kind: "embedded" };

const serviceNames = ["postgres", "redis", "etcd"] as const satisfies ServiceName[];

/**
 * Returns the source of each store's servers. The order of preference is a binary, Docker and the embedded store.
 * `TEST_STORES=docker` skips the binaries, and `TEST_STORES=embedded` both.
 */
export function locateServices(environment: Record<string, string | undefined>): Record<ServiceName, Source> {
  const wanted = environment.TEST_STORES;
  const binaries = wanted === undefined ? binariesHere() : NO_BINARIES;
  const docker = wanted !== "embedded" && serviceNames.some((name) => !binaries[name]) && dockerResponds();
  const source = (name: ServiceName): Source => {
    const binary = binaries[name];
    if (binary) return { kind: "binary", binary };
    return docker ? { kind: "docker" } : { kind: "embedded" };
  };
  return { postgres: source("postgres"), redis: source("redis"), etcd: source("etcd") };
}

const NO_BINARIES = { postgres: undefined, redis: undefined, etcd: undefined };

function binariesHere(): Record<ServiceName, string | undefined> {
  return { postgres: postgresBin(), redis: found("redis-server"), etcd: found("etcd") };
}

/** Returns the line that a run prints first: the source of each store, and what the run does not test. */
export function describeServices(sources: Record<ServiceName, Source>): string {
  const taken = serviceNames.map((name) => `${labels[name]} ${describe(sources[name])}`);
  const embedded = serviceNames.filter((name) => sources[name].kind === "embedded");
  const unproved = [
    ...embedded.map((name) => `the ${labels[name]} adapter and its outages`),
    ...(embedded.includes("postgres") ? ["concurrency in the database"] : []),
  ];
  const rest = unproved.length > 0 ? `not tested: ${unproved.join(", ")}` : "everything is tested";
  return `stores under test: ${taken.join(", ")}; ${rest}`;
}

const labels = { postgres: "PostgreSQL", redis: "Redis", etcd: "etcd" } satisfies Record<ServiceName, string>;

function describe(source: Source): string {
  switch (source.kind) {
    case "binary":
      return `from ${source.binary}`;
    case "docker":
      return "in Docker";
    case "embedded":
      return "replaced by the embedded store";
  }
}

function found(binary: string): string | undefined {
  return Bun.which(binary) ?? undefined;
}

/**
 * Returns the directory of PostgreSQL's binaries: the one in PATH or the newest one that Debian installs.
 * Returns undefined when there is none.
 */
export function postgresBin(): string | undefined {
  const onPath = Bun.which("postgres");
  if (onPath !== null && Bun.which("initdb") !== null) return dirname(onPath);
  const debian = "/usr/lib/postgresql";
  try {
    const versions = readdirSync(debian).sort((a, b) => Number(b) - Number(a));
    const newest = versions.find((version) => Bun.which("postgres", { PATH: join(debian, version, "bin") }));
    return newest === undefined ? undefined : join(debian, newest, "bin");
  } catch {
    return undefined; // Debian's directory does not exist
  }
}

function dockerResponds(): boolean {
  if (Bun.which("docker") === null) return false;
  return (
    Bun.spawnSync(["docker", "info"], { stdout: "ignore", stderr: "ignore", timeout: 5_000 }).exitCode === 0
  );
}
