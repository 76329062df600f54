import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync } from "node:fs";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";
import { type Database, openDatabase, rows } from "@ostiary/lib/runtime/stores/database";
import { openRouteStore, type RouteStore } from "@ostiary/lib/runtime/stores/route-store";
import { sql } from "drizzle-orm";
import { type ClientFiles, files, TlsMaterial } from "../../stores/tls/store-tls-suite.ts";
import { freePort } from "../../support/free-port.ts";
import { rejection, waitFor } from "../../support/index.ts";
import type { TestServer } from "../../support/server.ts";
import { services, startEtcd } from "../../support/services.ts";
import { ProcessEnded, startProcess } from "../../support/start-process.ts";
import { TlsPostgres } from "../../support/tls-postgres.ts";
import { isAble, newPath, runOstiary, SCHEMAS } from "./bed.ts";

setDefaultTimeout(120_000);

const EXIT_UNUSABLE = 1;
const ROUTES = "edge/gateway/routes/";
const ADMIN_TOKEN = "admin-token-of-these-tests";
const CONFIG = {
  url: "http://127.0.0.1:9",
  public: { routes: [{ path: "/kept", upstream: "/kept", methods: ["GET"] }] },
};

const material = new TlsMaterial();
/** Returns the certificate files of a client that PostgreSQL and etcd trust. */
const trusted = (): ClientFiles => ({ ca: material.made.ca, pair: material.made.client });

describe.skipIf(!(isAble && services().etcd.binary))("ostiary backup over TLS", () => {
  let postgres: TlsPostgres;
  let etcd: TestServer;
  let etcdUrl: string;
  /** The directory of a backup with one published service. It was made over TLS with a client certificate. */
  let backup: string;

  beforeAll(async () => {
    postgres = await TlsPostgres.start(material.made.ca);
    await postgres.show(material.made.good);
    // PostgreSQL's client programs refuse a key file that other users can read.
    for (const { keyFile } of [material.made.client, material.made.stranger]) chmodSync(keyFile, 0o600);
    etcdUrl = `https://localhost:${freePort()}`;
    const { certFile, keyFile } = material.made.good;
    etcd = await startEtcd(
      [
        ...["--cert-file", certFile, "--key-file", keyFile],
        ...["--client-cert-auth", "--trusted-ca-file", material.made.ca.certFile],
      ],
      etcdUrl,
    );
    const source = await newDatabase();
    await inDatabase(source, async (database) => {
      for (const schema of SCHEMAS) await database.migrate(schema, shippedFile(`drizzle/${schema}`));
    });
    await publish(source);
    backup = newPath();
    expect(await runOstiary(["create", backup], databaseOf(source))).toMatchObject({ exitCode: 0 });
  });
  afterAll(async () => {
    await etcd.close();
    await postgres[Symbol.asyncDispose]();
  });

  /** Creates an empty database that accepts only clients with a certificate. */
  async function newDatabase(): Promise<string> {
    const name = `tls_${crypto.randomUUID().replaceAll("-", "")}`;
    await postgres.admin.unsafe(`create database ${name}`);
    return name;
  }

  function databaseOf(name: string, given = trusted(), host?: string): Record<string, string> {
    return { DATABASE_URL: postgres.url(name, host), ...variablesOf("DATABASE", given) };
  }

  async function inDatabase<T>(name: string, work: (database: Database) => Promise<T>): Promise<T> {
    const tls = files("DATABASE", trusted());
    const database = await openDatabase(postgres.url(name), { namespace: "test", tls, poolMax: 1 });
    return work(database).finally(() => database.close());
  }

  const schemasOf = (name: string) =>
    inDatabase(name, async (database) => {
      const names = sql`select nspname as name from pg_namespace where nspname in ${SCHEMAS} order by 1`;
      const found = await database.run("schemas", (orm) => rows<{ name: string }>(orm, names));
      return found.map(({ name }) => name);
    });

  async function inRouteStore<T>(work: (store: RouteStore) => Promise<T>): Promise<T> {
    const store = await openRouteStore(etcdUrl, { tls: files("ROUTE_STORE", trusted()) });
    return work(store).finally(() => store.close());
  }

  const publishedKeys = () =>
    inRouteStore(async (store) => (await store.list(ROUTES)).entries.map(({ key }) => key));

  function startRegistry(database: string, given = trusted()) {
    return startProcess("apps/registry/main.ts", {
      ...databaseOf(database),
      ROUTE_STORE_URL: etcdUrl,
      ...variablesOf("ROUTE_STORE", given),
      ADMIN_TOKEN,
    });
  }

  /** Publishes one service and then empties the route store, as if etcd had lost its data. */
  async function publish(database: string): Promise<void> {
    const registry = await startRegistry(database);
    const put = await fetch(`${registry.url}/services/kept`, {
      method: "PUT",
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify(CONFIG),
    });
    expect(put.status).toBe(200);
    await waitFor(async () => (await publishedKeys()).length > 0, { what: "the published service" });
    await registry.stop();
    await inRouteStore((store) => store.delete(`${ROUTES}kept`));
  }

  // OP-21, OP-94
  test("restores with a client certificate, and the registry fills an empty route store over TLS", async () => {
    const target = await newDatabase();
    const restored = await runOstiary(["restore", backup], databaseOf(target));
    expect(restored).toMatchObject({ exitCode: 0 });
    expect(await schemasOf(target)).toEqual(SCHEMAS.toSorted());
    const error = await rejection(startRegistry(target, { ...trusted(), ca: material.made.next }));
    expect(error).toBeInstanceOf(ProcessEnded);
    expect(error).toMatchObject({ exitCode: EXIT_UNUSABLE });
    expect(String(error)).toContain("ROUTE_STORE_CA_FILE");
    expect(await publishedKeys()).toEqual([]);
    const registry = await startRegistry(target);
    await waitFor(async () => (await publishedKeys()).length > 0, { what: "the restored service" });
    await registry.stop();
    await inRouteStore((store) => store.delete(`${ROUTES}kept`));
  });

  // OP-21, OP-94
  test.each<[string, () => ClientFiles, string]>([
    [
      "signed by another CA",
      () => ({ ...trusted(), ca: material.made.next }),
      "is not signed by a trusted CA",
    ],
    [
      "signed by a private CA that the client does not name",
      () => ({ pair: material.made.client }),
      "is not signed by a trusted CA",
    ],
    [
      "that refuses the client's certificate",
      () => ({ ca: material.made.ca, pair: material.made.stranger }),
      "The client's TLS certificate was refused",
    ],
    [
      "that requires a client certificate",
      () => ({ ca: material.made.ca }),
      "DATABASE_CERT_FILE and DATABASE_KEY_FILE",
    ],
  ])("writes nothing to or from a server %s", async (_, given, message) => {
    const target = await newDatabase();
    const restored = await runOstiary(["restore", backup], databaseOf(target, given()));
    expect(restored.stderr + restored.stdout).toContain(message);
    expect(restored.exitCode).toBe(EXIT_UNUSABLE);
    expect(await schemasOf(target)).toEqual([]);
    const directory = newPath();
    const created = await runOstiary(["create", directory], databaseOf(target, given()));
    expect(created.stderr + created.stdout).toContain(message);
    expect(created.exitCode).toBe(EXIT_UNUSABLE);
    expect(existsSync(directory)).toBe(false);
  });
});

function variablesOf(peer: "DATABASE" | "ROUTE_STORE", { ca, pair }: ClientFiles): Record<string, string> {
  return {
    ...(ca && { [`${peer}_CA_FILE`]: ca.certFile }),
    ...(pair && { [`${peer}_CERT_FILE`]: pair.certFile, [`${peer}_KEY_FILE`]: pair.keyFile }),
  };
}
