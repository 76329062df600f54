/** Tests of compose.one-process.yaml, and of the role that it makes, on a PostgreSQL of this machine. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { loadPlatform } from "../../../../apps/platform/config.ts";
import { FREE_PORTS } from "../../../app/platform/bed.ts";
import { services, startPostgres } from "../../../support/index.ts";
import { runToEnd } from "../../../support/processes/run-to-end.ts";
import { runSql } from "../../../support/stores/sql.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { interpolated, oneProcess, service } from "./file.ts";
import { Secrets } from "./secrets.ts";

const PROVIDER = new Map([
  ["AUTH_ISSUER", "https://login.example.com"],
  ["AUTH_JWKS_URI", "https://login.example.com/jwks"],
]);
const MOUNTED = "/run/secrets/";
const ostiary = service("ostiary", oneProcess);
const database = service("postgres", oneProcess);
const both = Object.entries(oneProcess.services);

describe("compose.one-process.yaml", () => {
  test("has two containers, and publishes the port of the gateway alone", () => {
    const ports = both.map(([name, { ports = [] }]) => [name, ports.map((port) => interpolated(port))]);
    expect(ports).toEqual([
      ["ostiary", ["5001:5001"]],
      ["postgres", []],
    ]);
  });

  // OP-136, OP-137
  test("has every setting of production, with the secrets that make-secrets makes", async () => {
    const secrets = await Secrets.make();
    const file = (path: string) => join(secrets.folder, path.slice(MOUNTED.length));
    const environment = Object.entries(ostiary.environment ?? {}).map(([name, value]) => [
      name,
      value.startsWith(MOUNTED) ? file(value) : interpolated(value, PROVIDER),
    ]);
    const place = { DATA_DIR: temporaryFolder("one-process"), ...FREE_PORTS };
    const config = loadPlatform({ ...Object.fromEntries(environment), ...place });
    expect(config).toMatchObject({
      DEMO: false,
      HOST: "0.0.0.0",
      REGISTRY_HOST: "127.0.0.1",
      IDENTITY_HOST: "127.0.0.1",
      AUDIT_HOST: "127.0.0.1",
      DATABASE_URL: await secrets.read("database-url"),
    });
    expect(new URL(config.DATABASE_URL ?? "").password).toBe(await secrets.read("postgres-password"));
  });

  test("requires an identity provider", () => {
    expect(() => interpolated(ostiary.environment?.AUTH_ISSUER ?? "")).toThrow("AUTH_ISSUER must be set");
  });

  test.each(both)("%s has no secret in its environment", (_, { environment = {}, secrets = [] }) => {
    const files = Object.entries(environment).filter(([, value]) => value.startsWith(MOUNTED));
    expect(files.map(([, path]) => path.slice(MOUNTED.length)).toSorted()).toEqual(secrets.toSorted());
    expect(files.every(([name]) => name.endsWith("_FILE"))).toBe(true);
    const secret = /TOKEN|PASSWORD|KEY|DATABASE_URL/;
    expect(Object.keys(environment).filter((name) => secret.test(name) && !name.endsWith("_FILE"))).toEqual(
      [],
    );
    for (const name of secrets) expect(oneProcess.secrets[name]?.file).toEndWith(`/${name}`);
  });

  test("runs Ostiary without root, with time to stop and a restart, once the database is healthy", () => {
    expect(interpolated(ostiary.user ?? "")).toBe("1000:1000");
    const timeoutMs = Number(ostiary.environment?.SHUTDOWN_TIMEOUT_MS);
    expect(Number.parseInt(ostiary.stop_grace_period ?? "", 10) * 1_000).toBeGreaterThan(timeoutMs);
    expect(both.map(([, { restart }]) => restart)).toEqual(["unless-stopped", "unless-stopped"]);
    expect(ostiary.depends_on).toEqual({ postgres: { condition: "service_healthy" } });
    expect(database.healthcheck?.test).toContain("pg_isready");
  });
});

const can = services().postgres.binary && Bun.which("psql") !== null;

test.skipIf(!can)("the database belongs to a role without administrative rights", async () => {
  const { url } = await startPostgres();
  const server = new URL(url);
  const superuser = decodeURIComponent(server.username);
  await runSql(url, "create database ostiary");
  const made = await runToEnd(["sh", "apps/platform/deploy/containers/make-database-role"], {
    env: {
      PATH: process.env.PATH ?? "",
      PGHOST: server.hostname,
      PGPORT: server.port,
      POSTGRES_USER: superuser,
      POSTGRES_DB: "ostiary",
      POSTGRES_PASSWORD: "it's secret",
    },
  });
  expect(made).toMatchObject({ stderr: "", exitCode: 0 });
  const database = new URL("/ostiary", url).href;
  const roles = await runSql(
    database,
    `select rolname, rolsuper, rolcreaterole, rolcreatedb, rolpassword is null as without_password,
       rolname = pg_get_userbyid(datdba) as owns
     from pg_authid, pg_database where datname = 'ostiary' and (rolname = 'ostiary' or rolname = current_user)
     order by rolsuper`,
  );
  expect(roles).toMatchObject([
    { rolname: "ostiary", rolsuper: false, rolcreaterole: false, rolcreatedb: false, owns: true },
    { rolname: superuser, without_password: true, owns: false },
  ]);
  expect(roles[0]).toMatchObject({ without_password: false });
});
