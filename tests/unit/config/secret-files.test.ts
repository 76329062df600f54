import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { auditVariables } from "@ostiary/audit/config";
import { ConfigError, loadConfig } from "@ostiary/lib/runtime/config";
import { loadPlatform, platformVariables } from "../../../apps/platform/config.ts";
import { schemas } from "../../readmes/readmes.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { thrownBy } from "../../support/thrown.ts";

const folder = temporaryFolder("secret-files");

let files = 0;
function secretFile(content: string | Uint8Array): string {
  files += 1;
  const path = join(folder, String(files));
  writeFileSync(path, content);
  return path;
}

/** Returns the message with which `work` refuses an environment. */
function refusal(work: () => unknown): string {
  const error = thrownBy(ConfigError, work);
  if (error === null) throw new Error("The environment was accepted.");
  return error.message;
}

const databaseUrl = "postgres://ostiary:hunter2@db:5432/ostiary";
const loadAudit = (env: Record<string, string>) => loadConfig(auditVariables, env);

describe("a secret in a file", () => {
  // OP-9
  test.each(["", "\n", "\r\n"])("is read without the line break %j at its end", (lineEnd) => {
    const DATABASE_URL_FILE = secretFile(databaseUrl + lineEnd);
    expect(loadAudit({ DATABASE_URL_FILE })).toMatchObject({ DATABASE_URL: databaseUrl });
  });

  // OP-9
  test("is refused if the variable itself is set too", () => {
    const DATABASE_URL_FILE = secretFile(databaseUrl);
    const message = refusal(() => loadAudit({ DATABASE_URL: databaseUrl, DATABASE_URL_FILE }));
    expect(message).toContain("DATABASE_URL and DATABASE_URL_FILE are both set: set one of them.");
  });

  // OP-9
  test.each<[string, () => string, string]>([
    ["that is missing", () => join(folder, "none"), "must be a file that this user may read."],
    ["that is a folder", () => folder, "must be a plain file that holds the secret."],
    ["that is an endless device", () => "/dev/zero", "must be a plain file that holds the secret."],
    ["that is empty", () => secretFile(""), "names an empty file."],
    ["that is too large", () => secretFile(new Uint8Array(70_000)), "names a file of more than 64 KiB"],
  ])("is refused with one line in a file %s", (_, path, message) => {
    const refused = refusal(() => loadAudit({ DATABASE_URL_FILE: path() }));
    expect(refused.split("\n").filter((line) => line.includes("DATABASE_URL"))).toEqual([
      expect.stringContaining(`DATABASE_URL_FILE ${message}`),
    ]);
  });
});

/** Matches variables that can hold a password or a token. The URL of a store can contain a password. */
const SECRET_NAMES = /TOKEN|DATABASE_URL|STORE_URL|PEPPER|PASSWORD|SECRET/;

// OP-9
test.each(["gateway", "registry", "identity", "audit", "platform"])(
  "every secret variable of %s can be read from a file",
  (app) => {
    const properties = schemas[app]?.properties ?? {};
    const secrets = Object.keys(properties).filter((name) => SECRET_NAMES.test(name));
    expect(secrets.length).toBeGreaterThan(1);
    for (const name of secrets)
      expect({ name, secret: properties[name]?.secret }).toEqual({ name, secret: true });
  },
);

test("the platform reads the secrets of its services from files, and reports a missing file once", () => {
  const ports = Object.fromEntries(
    Object.keys(platformVariables.properties)
      .filter((name) => name.endsWith("_PORT"))
      .map((name) => [name, "0"]),
  );
  const ADMIN_TOKEN_FILE = secretFile("an-admin-token\n");
  const INTERNAL_AUTH_TOKEN_FILE = secretFile("a-token-of-services\n");
  const config = loadPlatform({ ...ports, ADMIN_TOKEN_FILE, INTERNAL_AUTH_TOKEN_FILE });
  expect(config).toMatchObject({ ADMIN_TOKEN: "an-admin-token", INTERNAL_AUTH_TOKEN: "a-token-of-services" });
  const message = refusal(() => loadPlatform({ ...ports, ADMIN_TOKEN_FILE: join(folder, "none") }));
  expect(message.match(/ADMIN_TOKEN/g)).toHaveLength(1);
});
