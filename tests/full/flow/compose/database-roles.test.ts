/**
 * Tests of the PostgreSQL roles that compose.yaml makes. The server runs on this machine, not in a container.
 */
import { beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { runOstiary } from "../../../app/audit/service-role-bed.ts";
import {
  freshRouteStoreUrl,
  rejection,
  services,
  startPostgres,
  startProcess,
} from "../../../support/index.ts";
import { withSql } from "../../../support/stores/sql.ts";
import { makeRoles, Secrets, WITH_DATABASE } from "./secrets.ts";

setDefaultTimeout(300_000);

const SCHEMAS = { registry: "routes", identity: "identity", audit: "audit" } as const;
const can = services().postgres.binary && services().etcd.real && Bun.which("psql") !== null;

describe.skipIf(!can)("the roles of the services", () => {
  let secrets: Secrets;
  /** The URL of the database with the superuser's name. */
  let server: string;
  beforeAll(async () => {
    secrets = await Secrets.make();
    const { url } = await startPostgres();
    server = new URL("/ostiary", url).href;
  });
  beforeEach(async () => {
    await withSql(server.replace("/ostiary", "/postgres"), async (sql) => {
      await sql`drop database if exists ostiary with (force)`;
      await sql`create database ostiary`;
    });
  });

  /** Starts and stops each service, so that its migrations run. Returns the exit codes. */
  async function startEach(url: (name: (typeof WITH_DATABASE)[number]) => Promise<string> | string) {
    const settings = { ROUTE_STORE_URL: await freshRouteStoreUrl(), ADMIN_TOKEN: "admin-token" };
    const codes = WITH_DATABASE.map(async (name) => {
      const env = { DATABASE_URL: await url(name), ...(name === "registry" && settings) };
      const started = await startProcess(`apps/${name}/main.ts`, env);
      expect((await fetch(`${started.internalUrl}/health/ready`)).status).toBe(200);
      return started.stop();
    });
    return Promise.all(codes);
  }

  test("become the owners of everything that was restored as the role postgres", async () => {
    expect(await startEach(() => server)).toEqual([0, 0, 0]);
    const made = await makeRoles(secrets, server);
    expect(made).toMatchObject({ stderr: "", exitCode: 0 });
    for (const [name, schema] of Object.entries(SCHEMAS)) {
      expect(made.stdout).toContain(`role ostiary_${name} owns schema ${schema}\n`);
      const owners = await withSql(
        server,
        (sql) => sql`
        select relname as name, pg_get_userbyid(relowner) as owner from pg_class
          where relnamespace = ${schema}::regnamespace
        union all select nspname, pg_get_userbyid(nspowner) from pg_namespace where nspname = ${schema}
        union all select proname, pg_get_userbyid(proowner) from pg_proc where pronamespace = ${schema}::regnamespace`,
      );
      expect(owners.length).toBeGreaterThan(5);
      expect(owners.filter(({ owner }) => owner !== `ostiary_${name}`)).toEqual([]);
    }
    expect(await startEach((name) => secrets.databaseUrl(name, server))).toEqual([0, 0, 0]);
  });

  test("can read only their own schema, and have no administrative privileges", async () => {
    await makeRoles(secrets, server);
    await startEach((name) => secrets.databaseUrl(name, server));
    const tables = {
      registry: "routes.revisions",
      identity: "identity.api_keys",
      audit: "audit.audit_events",
    };
    for (const own of WITH_DATABASE) {
      const url = await secrets.databaseUrl(own, server);
      for (const [owner, table] of Object.entries(tables)) {
        const read = withSql(url, (sql) => sql.unsafe(`select from ${table}`)).then(
          () => "read",
          (error: Error) => error.message,
        );
        expect(await read).toBe(
          owner === own ? "read" : `permission denied for schema ${table.split(".")[0]}`,
        );
      }
    }
    const roles = await withSql(
      server,
      (sql) => sql`
      select rolsuper, rolcreatedb, rolcreaterole, rolcanlogin from pg_roles where rolname like 'ostiary_%'`,
    );
    expect([...roles]).toEqual(
      Array(4).fill({ rolsuper: false, rolcreatedb: false, rolcreaterole: false, rolcanlogin: true }),
    );
  });

  // OP-72
  test("include one for the retention job that can drop old months and cannot read other schemas", async () => {
    const made = await makeRoles(secrets, server);
    expect(made.stdout).toContain("role ostiary_audit_owner has the rights of ostiary_audit\n");
    await startEach((name) => secrets.databaseUrl(name, server));
    await withSql(server, (sql) => sql`select audit.make_partition('2020-01')`);
    const DATABASE_URL = await secrets.databaseUrl("audit-owner", server);
    const read = withSql(DATABASE_URL, (sql) => sql`select from identity.api_keys`);
    expect(String(await rejection(Promise.resolve(read)))).toContain("permission denied for schema identity");
    expect(
      await runOstiary(
        { DATABASE_URL, AUDIT_RETENTION_MONTHS: "24", AUDIT_USAGE_RETENTION_MONTHS: "24" },
        "retention",
      ),
    ).toEqual({ exitCode: 0, stdout: "Dropped 2020-01: 0 entries of 0 logs are declared.\n", stderr: "" });
  });

  test("are made by concurrent runs without an error, and get a new password when the secret changes", async () => {
    const passwords = () =>
      withSql(
        server,
        (sql) => sql`
      select rolname, rolpassword from pg_authid where rolname like 'ostiary_%' order by rolname`,
      );
    await makeRoles(secrets, server);
    const before = await passwords();
    expect(before.filter(({ rolpassword }) => rolpassword === null)).toEqual([]);
    const many = await Promise.all(Array.from({ length: 6 }, () => makeRoles(secrets, server)));
    expect(many.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(
      Array(6).fill({ exitCode: 0, stderr: "" }),
    );
    await secrets.write("audit-database-url", "");
    secrets.makeMissing();
    expect(await secrets.read("audit-database-url")).toStartWith("postgres://ostiary_audit:");
    expect((await makeRoles(secrets, server)).exitCode).toBe(0);
    const changed = (await passwords()).filter(
      ({ rolpassword }, at) => rolpassword !== before[at]?.rolpassword,
    );
    expect(changed.map(({ rolname }) => rolname)).toContain("ostiary_audit");
  });
});
