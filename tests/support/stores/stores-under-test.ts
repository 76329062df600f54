import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";

export type ServiceName = "postgres" | "redis" | "etcd";

/** The source of a store's servers. With a URL and a binary, tests of outages start their own servers. */
export type Source =
  | { kind: "url"; url: string; binary: string | undefined }
  | { kind: "binary"; binary: string }
  | { kind: "docker" }
  | { kind: "embedded" };

export const serviceNames = ["postgres", "redis", "etcd"] as const satisfies ServiceName[];

/**
 * Returns the source of each store's servers. The order of preference is a URL in the environment, a binary,
 * Docker and the embedded store. `TEST_STORES=docker` skips the binaries.
 */
export function locateServices(environment: Record<string, string | undefined>): Record<ServiceName, Source> {
  const binaries = environment.TEST_STORES === "docker" ? NO_BINARIES : binariesHere();
  const missing = serviceNames.some((name) => !binaries[name] && !environment[variable(name)]);
  const docker = missing && dockerAnswers();
  const source = (name: ServiceName): Source => {
    const url = environment[variable(name)];
    const binary = binaries[name];
    if (url) return { kind: "url", url, binary };
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
  const unbreakable = serviceNames.filter((name) => embedded.includes(name) || !canStart(sources[name]));
  const unproved = [
    ...embedded.map((name) => `the ${labels[name]} adapter`),
    ...(embedded.includes("postgres") ? ["concurrency in the database"] : []),
    ...(unbreakable.length > 0 ? [`outages of ${unbreakable.map((name) => labels[name]).join(", ")}`] : []),
  ];
  const rest = unproved.length > 0 ? `not tested: ${unproved.join(", ")}` : "everything is tested";
  return `stores under test: ${taken.join(", ")}; ${rest}`;
}

/** Returns whether a test can start its own server, which the test may break. */
export function canStart(source: Source): boolean {
  if (source.kind === "url") return source.binary !== undefined;
  return source.kind !== "embedded";
}

const labels = { postgres: "PostgreSQL", redis: "Redis", etcd: "etcd" } satisfies Record<ServiceName, string>;

function describe(source: Source): string {
  switch (source.kind) {
    case "url":
      return "at the configured URL";
    case "binary":
      return `from ${source.binary}`;
    case "docker":
      return "in Docker";
    case "embedded":
      return "replaced by the embedded store";
  }
}

export function variable(name: ServiceName): string {
  return `TEST_${name.toUpperCase()}_URL`;
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

function dockerAnswers(): boolean {
  if (Bun.which("docker") === null) return false;
  return (
    Bun.spawnSync(["docker", "info"], { stdout: "ignore", stderr: "ignore", timeout: 5_000 }).exitCode === 0
  );
}
