/** Follows backup-and-restore.md: backs up a database, loses its server, and restores into a new server. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { type IdentityProvider, startIdentityProvider, startSampleService } from "@ostiary/demo";
import { publishCatalogs } from "../../../../apps/platform/catalogs.ts";
import { writeSigningKey } from "../../../app/audit/proof-bed.ts";
import { commandsOf } from "../../../support/documents/documents.ts";
import { Reader } from "../../../support/documents/guide-reader.ts";
import { freePort } from "../../../support/http/free-port.ts";
import { type RunningProcess, startProcess } from "../../../support/processes/start-process.ts";
import { ROOT } from "../../../support/root.ts";
import {
  freshCounterStoreUrl,
  services,
  startEtcd,
  startPostgres,
} from "../../../support/stores/services.ts";
import { runSql } from "../../../support/stores/sql.ts";
import { waitFor } from "../../../support/time/wait-for.ts";

setDefaultTimeout(240_000);

const GUIDE = ".github/guides/backup-and-restore.md";
const ADMIN_TOKEN = "restored-admin-token";

const { postgres: database, redis, etcd } = services();
const able = database.binary && redis.real && etcd.real && Bun.which("pg_dump") !== null;

interface Caller {
  key: string;
  session: string;
}

/** The four services. Their ports stay the same after a restart, because published routes contain them. */
class System {
  readonly #ports: Record<string, string>;
  readonly signingKey = writeSigningKey();
  readonly #env = new Map<string, Record<string, string>>();
  readonly #processes = new Map<string, RunningProcess>();
  readonly provider: IdentityProvider;

  constructor(provider: IdentityProvider, ports: number[]) {
    this.provider = provider;
    const names = ["registry", "identity", "audit", "gateway", "identity-internal", "audit-internal"];
    this.#ports = Object.fromEntries(names.map((name, index) => [name, String(ports[index])]));
  }

  url(name: string): string {
    return `http://127.0.0.1:${this.#ports[name]}`;
  }

  /**
   * Starts the services.
   *
   * @param server the URL of the database with the superuser's name; each service connects as its own role
   */
  async start(server: string, routeStore: string, counterStore: string): Promise<void> {
    const port = (name: string) => this.#ports[name] ?? "";
    const parts: [string, Record<string, string>][] = [
      ["registry", { DATABASE_URL: asRole(server, "registry"), ROUTE_STORE_URL: routeStore, ADMIN_TOKEN }],
      [
        "identity",
        {
          DATABASE_URL: asRole(server, "identity"),
          ROLES_FILE: "seeds/roles.yaml",
          INTERNAL_PORT: port("identity-internal"),
        },
      ],
      [
        "audit",
        {
          DATABASE_URL: asRole(server, "audit"),
          SEAL_INTERVAL_MS: "100",
          AUDIT_SIGNING_KEY_FILE: this.signingKey,
          INTERNAL_PORT: port("audit-internal"),
        },
      ],
      [
        "gateway",
        {
          ROUTE_STORE_URL: routeStore,
          COUNTER_STORE_URL: counterStore,
          AUTH_ISSUER: this.provider.issuer,
          AUTH_JWKS_URI: this.provider.jwks_uri,
          CREDENTIAL_VALIDATE_URL: `${this.url("identity-internal")}/internal/credentials/validate`,
          AUDIT_URL: this.url("audit-internal"),
          APIKEY_CACHE_TTL_SECS: "0",
        },
      ],
    ];
    for (const [name, env] of parts) this.#env.set(name, { ...env, PORT: port(name) });
    await Promise.all(parts.map(([name]) => this.restart(name)));
  }

  /** Starts a service, again if it runs, with more environment variables. */
  async restart(name: string, more: Record<string, string> = {}): Promise<void> {
    await this.#processes.get(name)?.stop();
    const env = { ...this.#env.get(name), ...more };
    this.#processes.set(name, await startProcess(`apps/${name}/main.ts`, env));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#processes.values()].map((each) => each.stop()));
    this.#processes.clear();
  }

  call(path: string, credential: string, accept = "*/*", init: RequestInit = {}): Promise<Response> {
    const headers = new Headers({ Accept: accept, Connection: "close" });
    if (credential.startsWith("ey")) headers.set("Authorization", `Bearer ${credential}`);
    else headers.set("X-API-Key", credential);
    return fetch(`${this.url("gateway")}${path}`, { ...init, headers });
  }

  async post(path: string, credential: string, body: object = {}) {
    const response = await this.call(path, credential, "*/*", { method: "POST", body: JSON.stringify(body) });
    return JSON.parse(await response.text());
  }
}

const roleOf = (service: string) => `ostiary_${service}`;

function asRole(server: string, service: string): string {
  const url = new URL(server);
  url.username = roleOf(service);
  return url.href;
}

/** Creates the roles as the guide for one machine does: each service creates and owns its schema. */
async function makeRoles(server: string): Promise<void> {
  for (const role of ["registry", "identity", "audit"].map(roleOf)) {
    await runSql(server, `create role ${role} login; grant create on database ostiary to ${role}`);
  }
}

describe.skipIf(!able)("backup-and-restore.md", () => {
  let system: System;
  let reader: Reader;
  let sample: ReturnType<typeof startSampleService>;
  let old: Caller;
  let restored: string;
  const lost: Caller = { key: "", session: "" };

  beforeAll(async () => {
    const first = await startPostgres();
    const second = await startPostgres();
    const provider = await startIdentityProvider({ host: "127.0.0.1", port: 0 });
    sample = startSampleService({ host: "127.0.0.1", port: 0, intervalMs: 20 });
    system = new System(provider, Array.from({ length: 6 }, freePort));
    await runSql(first.url, "create database ostiary");
    const [before, after] = [first, second].map(({ url }) => new URL("/ostiary", url).href);
    if (before === undefined || after === undefined) throw new Error("The test needs two different servers.");
    reader = await Reader.open({
      OWNER_URL: before,
      SERVER_URL: first.url,
      GATEWAY: system.url("gateway"),
    });
    await makeRoles(before);
    await system.start(before, (await startEtcd()).url, await freshCounterStoreUrl());
    await publish();
    old = await newCaller("kept");
    await waitForLog(old.session);

    const backUp = await commandsOf(GUIDE, "Back up");
    await reader.runAll([`export KEY=${old.session}`, ...backUp]);

    await afterTheBackup();
    await system.stop();
    await first.kill();
    restored = after;
    const restoring = await Reader.open({ OWNER_URL: after, SERVER_URL: second.url });
    for (const name of ["ostiary.dump", "roles.sql"]) {
      await rename(join(reader.directory, name), join(restoring.directory, name));
    }
    await restoring.runAll(await commandsOf(GUIDE, "Restore"));
    // Only PostgreSQL is restored. etcd and Redis start empty.
    await system.start(after, (await startEtcd()).url, await freshCounterStoreUrl());
    await waitFor(async () => (await system.call("/demo/things/1", old.session)).ok, {
      timeoutMs: 60_000,
      what: "the restored routes at the gateway",
    });
  });
  afterAll(async () => {
    await system?.stop();
    await Promise.all([system?.provider.stop(), sample?.stop()]);
  });

  async function publish() {
    await publishCatalogs(
      { registryUrl: system.url("registry"), adminToken: ADMIN_TOKEN, program: "bun cli" },
      [
        { service: "identity", url: system.url("identity") },
        { service: "audit", url: system.url("audit") },
        { service: "demo", url: sample.url },
      ],
    );
  }

  async function newCaller(subject: string): Promise<Caller> {
    const token = await (await fetch(`${system.provider.issuer}/token?subject=${subject}`)).text();
    await waitFor(async () => (await system.call("/user", token)).ok, { what: "the route of the person" });
    const { id } = await system.post("/user/organizations", token, { name: subject });
    const { token: session } = await system.post(`/user/organizations/${id}/session`, token);
    const { key } = await system.post("/member/api-keys", session);
    await system.call("/demo/things/1", key, "*/*", { method: "PUT" });
    return { key, session };
  }

  /**
   * Makes changes that the backup does not contain: a revoked key, a new organization and a deleted service.
   */
  async function afterTheBackup() {
    const { keys } = JSON.parse(await (await system.call("/member/api-keys", old.session)).text());
    await system.call(`/member/api-keys/${keys[0].id}`, old.session, "*/*", { method: "DELETE" });
    expect((await system.call("/demo/things/1", old.key)).status).toBe(401);
    Object.assign(lost, await newCaller("lost"));
    const deleted = await fetch(`${system.url("registry")}/services/demo`, {
      method: "DELETE",
      headers: { Authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    expect(deleted.status).toBe(204);
    const log = await system.call("/org/audit-events?proof=true", old.session, "application/x-ndjson");
    expect(log.status).toBe(200);
    await Bun.write(join(reader.directory, "later.ndjson"), await log.text());
  }

  /** Waits until the audit log has the event of the PUT request. */
  const waitForLog = (session: string) =>
    waitFor(
      async () => /"method":"PUT"/.test(await (await system.call("/org/audit-events", session)).text()),
      {
        what: "the event of the write",
      },
    );

  // OP-67
  test("restores the routes, which the registry writes into an empty etcd", async () => {
    await Bun.write(join(reader.directory, "admin-token"), ADMIN_TOKEN);
    const [commands = ""] = await commandsOf(GUIDE, "Check that everything is there");
    const listed = await reader.run(commands.replace("http://127.0.0.1:5002", system.url("registry")));
    expect(listed).toMatch(/^demo +http/m);
    expect(listed).toMatch(/^identity +http/m);
  });

  test("keeps the proof of the log, and continues it", async () => {
    const [, verify = ""] = await commandsOf(GUIDE, "Check that everything is there");
    const verified = () => reader.run(`export KEY=${old.session}\n${verify}`);
    expect(await verified()).toContain("are complete and unaltered.");
    await system.call("/demo/things/2", old.session, "*/*", { method: "PUT" });
    expect(await verified()).toContain("are complete and unaltered.");
  });

  // OP-67
  test("is detected by an export newer than the backup, once the log is longer again", async () => {
    const [, verify = ""] = await commandsOf(GUIDE, "Check that everything is there");
    const later = verify.replaceAll("kept.ndjson", "later.ndjson");
    expect(later).not.toBe(verify);
    const kept = await Bun.file(join(reader.directory, "later.ndjson")).text();
    const size = JSON.parse(kept.trimEnd().split("\n").at(-1) ?? "").note.split("\n")[1];
    const grown = `/org/audit-events?proof=true&root=${size}`;
    // Each pass of the sealer adds one leaf, so the writes come one by one, and within the caller's rate limit.
    const isLonger = async () => {
      await system.call("/demo/things/3", old.session, "*/*", { method: "PUT" });
      return (await system.call(grown, old.session, "application/x-ndjson")).ok;
    };
    await waitFor(isLonger, {
      pollMs: 1_500,
      timeoutMs: 60_000,
      what: "a log that is longer than the kept export",
    });
    await expect(reader.run(`export KEY=${old.session}\n${later}`)).rejects.toThrow("exited with code 1");
  });

  // AU-204
  test("is declared by audit restart, and every later verdict says so", async () => {
    const [, verify = "", restart = ""] = await commandsOf(GUIDE, "Check that everything is there");
    const [, keys = ""] = (await commandsOf(GUIDE, "Back up"))[0]?.split("\n") ?? [];
    const ostiary = `ostiary() { bun ${join(ROOT, "apps/platform/ostiary.ts")} "$@"; }`;
    const key = `export AUDIT_SIGNING_KEY_FILE=${system.signingKey} OWNER_URL=${restored}`;
    const [, name] = /--origin (\S+)/.exec(restart) ?? [];
    expect(await reader.run(`${ostiary}\n${key}\n${restart}`)).toContain(`Set AUDIT_LOG_ORIGIN=${name}`);
    await system.restart("audit", { AUDIT_LOG_ORIGIN: name ?? "" });
    await waitFor(async () => (await system.call("/audit-log/key", "")).ok);
    const withoutRoot = verify.replace("&root=$SIZE", "").replace(" --root kept.ndjson", "");
    const output = await reader.run(`export KEY=${old.session}\n${keys}\n${withoutRoot}`);
    expect(output).toContain("are complete and unaltered.");
    expect(output).toMatch(/restart +declared .*: the log was ostiary\/audit-log before/);
  });
});
