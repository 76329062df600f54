import { describe, expect, test } from "bun:test";
import { type BackupConfig, type Place, placesOf } from "@ostiary/platform/backup/config";
import { connectionTo } from "@ostiary/platform/backup/postgres-tools";

const tool = { path: "/usr/bin/pg_dump", major: 17 };
const connection = (url: string, files = {}) => connectionTo(url, { DATABASE_URL: url, ...files }, tool);

describe("the connection of pg_dump and pg_restore", () => {
  test.each([
    ["postgres://u:p@h:5432/db", "postgres://u@h:5432/db", "p"],
    ["postgresql://u:p%40%2Fs@h/db?sslmode=disable", "postgresql://u@h/db", "p@/s"],
    ["postgres://h/db", "postgres://h/db", undefined],
    ["postgres://u@h", "postgres://u@h", undefined],
    ["postgres://u%40x:p@a:1,b:2/db?target_session_attrs=primary", "postgres://u%40x@a:1,b:2/db", "p"],
    ["postgres://u:@[::1]:5432/db", "postgres://u@[::1]:5432/db", ""],
  ])("to %s has no password and no options in its arguments", (url, dbname, password) => {
    const { variables, ...rest } = connection(url);
    expect(rest).toEqual({ dbname });
    expect(variables.PGPASSWORD).toBe(password);
    expect(variables).toMatchObject({ PGSSLMODE: "disable", PGTARGETSESSIONATTRS: "read-write" });
  });

  test("verifies the certificate and its host name whenever the URL requires TLS", () => {
    for (const mode of ["require", "verify-ca", "verify-full"]) {
      const { variables } = connection(`postgres://h/db?sslmode=${mode}`);
      expect(variables).toMatchObject({ PGSSLMODE: "verify-full", PGSSLROOTCERT: "system" });
      expect(variables.PGSSLCERT).toBeUndefined();
    }
    const files = { DATABASE_CA_FILE: "ca", DATABASE_CERT_FILE: "cert", DATABASE_KEY_FILE: "key" };
    expect(connection("postgres://h/db?sslmode=require", files).variables).toMatchObject({
      PGSSLROOTCERT: "ca",
      PGSSLCERT: "cert",
      PGSSLKEY: "key",
    });
  });

  test("is refused for client programs that cannot use the system's CAs", () => {
    const old = { path: "/usr/bin/pg_dump", major: 15 };
    const url = "postgres://h/db?sslmode=verify-full";
    expect(() => connectionTo(url, {}, old)).toThrow(
      "Set DATABASE_CA_FILE, or install the client programs of",
    );
    expect(connectionTo(url, { DATABASE_CA_FILE: "ca" }, old).variables.PGSSLROOTCERT).toBe("ca");
  });
});

describe("the databases of a backup", () => {
  // OP-62
  test.each<[BackupConfig, Place[]]>([
    [{ DATABASE_URL: "a" }, [{ url: "a", schemas: ["routes", "identity", "audit"] }]],
    [
      { DATABASE_URL: "a", IDENTITY_DATABASE_URL: "b" },
      [
        { url: "b", schemas: ["identity"] },
        { url: "a", schemas: ["routes", "audit"] },
      ],
    ],
    [
      { REGISTRY_DATABASE_URL: "a", IDENTITY_DATABASE_URL: "b", AUDIT_DATABASE_URL: "a" },
      [
        { url: "b", schemas: ["identity"] },
        { url: "a", schemas: ["routes", "audit"] },
      ],
    ],
  ])("of %j are each listed once, with the database of the audit log last", (config, places) => {
    expect(placesOf(config)).toEqual(places);
  });
});
