/** Tests that a refused start reports every problem at once, and no secret (OP-5, OP-6). */
import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadAudit } from "@ostiary/audit/run";
import { loadGateway } from "@ostiary/gateway/run";
import { loadIdentity } from "@ostiary/identity/run";
import { ConfigError, type Environment } from "@ostiary/lib/runtime/config";
import { loadPortal } from "@ostiary/portal/run";
import { loadRegistry } from "@ostiary/registry/run";
import { loadPlatform } from "../../../apps/platform/config.ts";
import { freePort } from "../../support/http/free-port.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { thrownBy } from "../../support/thrown.ts";
import { wordsOf } from "../../support/words.ts";
import { FREE_PORTS, productionSecrets } from "./bed.ts";

type Load = (env: Environment) => unknown;

const SECRET = "hunter2";
const directory = temporaryFolder("refused");
const roles = join(directory, "roles.yaml");
beforeAll(() =>
  writeFile(
    roles,
    "roles:\n  owner: [Bad]\n  extra: 7\ncreator_role: owner\ndefault_role: owner\nunknown: 1\n",
  ),
);

/**
 * Expects that a configuration is refused, and returns its problems in alphabetical order. Each problem starts with
 * its environment variable, although the message names a variable only once.
 */
function problems(load: Load, env: Record<string, string>): string[] {
  const message = thrownBy(ConfigError, () => load(env))?.message ?? "";
  expect(message).not.toContain(SECRET);
  const [headline, ...lines] = message.split("\n");
  expect(headline).toBe("The configuration is not valid:");
  const named = lines.filter((line) => !line.startsWith("    ")).map((line) => line.trim().split(" ")[0]);
  expect(named).toEqual([...new Set(named)]);
  let heading = "";
  const found = lines.flatMap((line) => {
    if (line.startsWith("    ")) return [`${heading} ${line.trim()}`];
    heading = line.trim();
    return heading.includes(" ") ? [heading] : [];
  });
  return found.toSorted();
}

/** The smallest settings of a platform without the demo. */
const PRODUCTION = {
  DEMO: "false",
  AUTH_ISSUER: "https://a.example",
  AUTH_JWKS_URI: "https://a.example/keys",
};

const WHOLE = "must be a whole number from";
const DATABASE_RULE =
  "must be postgres://user:password@host:port/name, pglite:///absolute/directory or pglite://memory. Escape special characters of the password (%40 for @). Write further host:port pairs after commas. ?sslmode=verify-full turns TLS on; DATABASE_CA_FILE, DATABASE_CERT_FILE and DATABASE_KEY_FILE name its files. target_session_attrs can be primary or read-write.";
const PEPPER_RULE =
  "must be 32 to 64 characters of visible ASCII without spaces, for example the output of `openssl rand -hex 32`.";
const TOKEN_RULE = "of visible ASCII characters without spaces.";
const ROLES_PROBLEMS = [
  "ROLES_FILE line 2: roles.owner[0] must be 1 to 64 characters: a-z, 0-9, colon, dot, underscore and hyphen.",
  "ROLES_FILE line 3: roles.extra must be a list of at most 64 labels.",
  "ROLES_FILE line 6: unknown is not a known field: remove the field.",
];

// OP-5
describe("all wrong environment variables are named at once", () => {
  // OP-13
  test("by the gateway", () => {
    const port = String(freePort());
    const lines = problems(loadGateway, {
      PORT: port,
      INTERNAL_PORT: port,
      ROUTE_STORE_URL: "memory://",
      MAX_BODY_BYTES: "1e3",
      CREDENTIAL_VALIDATE_URL: `u:${SECRET}@identity`,
      ALLOWED_ORIGINS: "https://a/",
      REUSE_PORT: "yes",
      AUTH_ALLOWED_AUDIENCES: ",",
      INTERNAL_AUTH_TOKEN: `${SECRET} ${SECRET}`,
    });
    expect(lines).toEqual([
      "ALLOWED_ORIGINS must be origins without a path, separated by commas, such as https://app.example.com; unset allows every origin.",
      "AUDIT_URL is required unless AUDIT_ENABLED is false.",
      "AUTH_ALLOWED_AUDIENCES must be audiences, separated by commas.",
      "COUNTER_STORE_URL is required: it must be redis://host:port, rediss://host:port, redis+cluster://host:port,host:port, rediss+cluster://host:port,host:port or memory://.",
      "CREDENTIAL_VALIDATE_URL must be an absolute http:// or https:// URL.",
      `INTERNAL_AUTH_TOKEN must be the token that the services share, ${TOKEN_RULE}`,
      `INTERNAL_PORT is ${port}, the same port as PORT: set two different ports.`,
      `MAX_BODY_BYTES ${WHOLE} 0 to 9007199254740991.`,
      "REUSE_PORT must be true or false.",
      "ROUTE_STORE_URL is memory://, which no other process can read: set the URL of etcd, or start the platform app.",
    ]);
  });

  // ID-70
  test("by identity, with each problem of the roles file", () => {
    const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
    const lines = problems(loadIdentity, {
      HOST: "127.0.0.1",
      DATABASE_URL: "pglite:///",
      ROLES_FILE: roles,
      APIKEY_BRAND: "",
      PORT: String(taken.port),
      APIKEY_MAX_AGE_SECONDS: "59",
      PLAIN_HASHES_ACCEPTED: "false",
      SECRET_PEPPER_PREVIOUS: `${SECRET} with spaces`.padEnd(40, "*"),
    });
    taken.stop(true);
    expect(lines).toEqual([
      "APIKEY_BRAND must be at most 32 lower-case letters and digits, a letter first; leave it unset for the default.",
      `APIKEY_MAX_AGE_SECONDS ${WHOLE} 60 to 315360000.`,
      `DATABASE_URL ${DATABASE_RULE}`,
      `PORT is ${taken.port}, which is in use on 127.0.0.1 by another program: stop that program, or set another port.`,
      ...ROLES_PROBLEMS,
      "SECRET_PEPPER is required while PLAIN_HASHES_ACCEPTED is false.",
      `SECRET_PEPPER_PREVIOUS ${PEPPER_RULE}`,
    ]);
  });

  // AU-116
  test("by audit", () => {
    const lines = problems(loadAudit, {
      DATABASE_URL: "pglite:///",
      LOG_FILE: "/nowhere/log",
      LOG_LEVEL: "loud",
      HOST: "300.1.1.1",
      SEAL_INTERVAL_MS: "3001",
      AUDIT_OPERATOR_STREAM_URL: "https://siem.example.com/",
    });
    expect(lines).toEqual([
      "AUDIT_OPERATOR_STREAM_SECRET is required if AUDIT_OPERATOR_STREAM_URL is set.",
      `DATABASE_URL ${DATABASE_RULE}`,
      "HOST must be an IP address or a host name to bind, such as 0.0.0.0 or 127.0.0.1.",
      "LOG_FILE must be a file that this user may append to, or - for standard output.",
      "LOG_LEVEL must be debug, info, warn or error.",
      "SEAL_INTERVAL_MS must be at most 3000 with streams (AUDIT_STREAM_KEY_FILE or AUDIT_OPERATOR_STREAM_URL), which send an event within 5 s.",
    ]);
  });

  // OP-5
  test("by the platform, for itself and all its services, before it writes anything", () => {
    const DATA_DIR = join(directory, "data");
    const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
    const lines = problems(loadPlatform, {
      DATA_DIR,
      DEMO: "maybe",
      GATEWAY_PORT: "http",
      REGISTRY_PORT: String(taken.port),
      AUDIT_PORT: "0",
      IDENTITY_PORT: "0",
      DATABASE_URL: `mysql://u:${SECRET}@h`,
      ROLES_FILE: roles,
      ROUTE_STORE_URL: "etcd",
      COUNTER_STORE_URL: "redis+cluster://",
      ADMIN_TOKEN: `${SECRET} 2`,
      RATE_LIMIT_REQUESTS: "-1",
      RECONCILE_INTERVAL_MS: "1",
      APIKEY_BRAND: "Acme",
      SECRET_PEPPER: `${SECRET}-too-short`,
      PLAIN_HASHES_ACCEPTED: "false",
      SWAGGER_ENABLED: "yes",
      INTERNAL_AUTH_TOKEN: `${SECRET} 2`,
      MAX_BODY_BYTES: "+5",
      AUTH_JWKS_URI: "jwks",
      GATEWAY_INTERNAL_PORT: "0",
      REGISTRY_INTERNAL_PORT: "0",
      IDENTITY_INTERNAL_PORT: "0",
      AUDIT_INTERNAL_PORT: "0",
      PORTAL_PORT: "0",
      PORTAL_INTERNAL_PORT: "0",
      DEMO_PORT: "0",
      DEMO_IDENTITY_PROVIDER_PORT: "0",
    });
    taken.stop(true);
    expect(lines.map((line) => line.split(" ")[0])).toEqual(
      wordsOf(`
        ADMIN_TOKEN APIKEY_BRAND AUTH_JWKS_URI COUNTER_STORE_URL DATABASE_URL DEMO GATEWAY_PORT
        INTERNAL_AUTH_TOKEN MAX_BODY_BYTES RATE_LIMIT_REQUESTS RECONCILE_INTERVAL_MS REGISTRY_PORT
        ROLES_FILE ROLES_FILE ROLES_FILE ROUTE_STORE_URL SECRET_PEPPER SWAGGER_ENABLED
      `),
    );
    expect(lines).toEqual(expect.arrayContaining(ROLES_PROBLEMS));
    expect(existsSync(DATA_DIR)).toBe(false);
  });
});

// GW-230
test.each<[string, Load]>([
  ["gateway", loadGateway],
  ["platform", loadPlatform],
])("%s reports a wrong issuers file, and each variable of a single issuer beside it", async (_app, load) => {
  const AUTH_ISSUERS_FILE = join(directory, "issuers.yaml");
  const one =
    "{ issuer: https://a.example, jwks_uri: https://a.example/keys, audiences: [], user_id_claim: sub }";
  const authLines = (env: Record<string, string>) =>
    problems(load, { PORT: "seventy", DEMO: "false", DATABASE_URL: "?", ...env }).filter((line) =>
      line.startsWith("AUTH_"),
    );
  await writeFile(AUTH_ISSUERS_FILE, `issuers: [${one}]`);
  expect(authLines({ AUTH_ISSUERS_FILE })).toEqual([]);
  await writeFile(AUTH_ISSUERS_FILE, `issuers: [${one}, ${one}]`);
  expect(authLines({ AUTH_ISSUERS_FILE, AUTH_ISSUER: "https://a.example" })).toEqual([
    "AUTH_ISSUER and AUTH_ISSUERS_FILE are both set: keep one of them.",
    "AUTH_ISSUERS_FILE line 1: issuers[1].issuer can be the iss of the same tokens as issuers[0].issuer: keep one of the two.",
  ]);
});

// OP-5
test.each<[string, Load, string[]]>([
  ["gateway", loadGateway, ["COUNTER_STORE_URL", "CREDENTIAL_VALIDATE_URL", "AUDIT_URL"]],
  ["registry", loadRegistry, ["DATABASE_URL", "ADMIN_TOKEN"]],
  ["identity", loadIdentity, ["DATABASE_URL"]],
  ["audit", loadAudit, ["DATABASE_URL"]],
  ["portal", loadPortal, ["AUTH_ISSUER", "PORTAL_CLIENT_ID"]],
])("%s names each required variable and each wrong one", (_app, load, required) => {
  const lines = problems(load, { PORT: "seventy" });
  const named = lines.filter((line) => line.includes(" is required")).map((line) => line.split(" ")[0]);
  expect(named.toSorted()).toEqual(required.toSorted());
  expect(lines).toContain(`PORT ${WHOLE} 0 to 65535.`);
});

// OP-136
describe("the platform without the demo", () => {
  const DATABASE_URL = "postgres://ostiary:hunter2@database:5432/ostiary";
  const required = (env: Record<string, string>) =>
    problems(loadPlatform, { ...FREE_PORTS, DEMO: "false", ...env }).map((line) => line.split(" ")[0]);

  test("names every missing setting of production at once", () => {
    expect(required({})).toEqual(["AUTH_ISSUER", "AUTH_JWKS_URI"]);
    // Without the keys of its issuer, a gateway verifies no token.
    expect(required({ AUTH_ISSUER: "https://a.example" })).toEqual(["AUTH_JWKS_URI"]);
    expect(required({ AUTH_JWKS_URI: "https://a.example/keys" })).toEqual(["AUTH_ISSUER"]);
    expect(required({ DATABASE_URL, GATEWAY_PORT: "x", ROUTE_STORE_URL: "y" })).toEqual(
      wordsOf(`
        ADMIN_TOKEN AUDIT_SIGNING_KEY_FILE AUTH_ISSUER AUTH_JWKS_URI GATEWAY_PORT INTERNAL_AUTH_TOKEN
        ROUTE_STORE_URL
      `),
    );
    expect(required({ DATABASE_URL, ADMIN_TOKEN: "", AUTH_ISSUER: "https://a.example" })).toContain(
      "ADMIN_TOKEN",
    );
  });

  test("takes secrets from files, and makes its own secrets for an embedded database", async () => {
    const file = async (name: string, text: string) => {
      await writeFile(join(directory, name), text, { mode: 0o600 });
      return join(directory, name);
    };
    const made = await productionSecrets();
    const secrets = {
      DATABASE_URL_FILE: await file("url", DATABASE_URL),
      ADMIN_TOKEN_FILE: await file("admin", made.ADMIN_TOKEN),
      INTERNAL_AUTH_TOKEN_FILE: await file("internal", made.INTERNAL_AUTH_TOKEN),
      AUDIT_SIGNING_KEY_FILE: made.AUDIT_SIGNING_KEY_FILE,
    };
    expect(loadPlatform({ ...FREE_PORTS, ...PRODUCTION, ...secrets })).toMatchObject({ DATABASE_URL });
    expect(loadPlatform({ ...FREE_PORTS, ...PRODUCTION })).toMatchObject({ DEMO: false });
  });
});

// OP-4
describe("two listeners of one process", () => {
  test("the platform refuses any two equal ports, but ignores the demo's ports without the demo", () => {
    const port = String(freePort());
    const names = Object.keys(FREE_PORTS);
    for (const [index, one] of names.entries()) {
      const [other = ""] = names.slice(index + 1);
      if (other === "") continue;
      const lines = problems(loadPlatform, { ...FREE_PORTS, [one]: port, [other]: port });
      expect(lines).toEqual([`${other} is ${port}, the same port as ${one}: set two different ports.`]);
    }
    const env = { ...FREE_PORTS, ...PRODUCTION, DEMO_PORT: port, DEMO_IDENTITY_PROVIDER_PORT: port };
    expect(loadPlatform(env)).toMatchObject({ DEMO: false });
  });
});

// OP-4
describe("a port that another program uses is refused", () => {
  const hold = (hostname = "127.0.0.1") => {
    const held = Bun.listen({ hostname, port: 0, socket: { data: () => {} } });
    ends.push(held);
    return String(held.port);
  };
  const ends: { stop(closeActive: boolean): void }[] = [];
  afterEach(() => {
    for (const held of ends.splice(0)) held.stop(true);
  });
  const inUse = (variable: string, port: string, host = "127.0.0.1") =>
    `${variable} is ${port}, which is in use on ${host} by another program: stop that program, or set another port.`;
  const DATABASE_URL = "pglite://memory";

  test("by each of its twelve variables, by the platform", () => {
    const ports = Object.fromEntries(Object.keys(FREE_PORTS).map((name) => [name, hold()]));
    const expected = Object.entries(ports).map(([name, port]) => inUse(name, port));
    expect(problems(loadPlatform, ports)).toEqual(expected.toSorted());
  });

  // OP-2
  test.each([
    ["0.0.0.0", "127.0.0.1"],
    ["127.0.0.1", "0.0.0.0"],
    ["127.0.0.1", "localhost"],
  ])("on %s, for HOST=%s", (held, HOST) => {
    const PORT = hold(held);
    expect(problems(loadAudit, { DATABASE_URL, HOST, PORT, INTERNAL_PORT: "0" })).toEqual([
      inUse("PORT", PORT, HOST),
    ]);
  });

  // OP-2
  test.each(["203.0.113.7", "nowhere.invalid"])("HOST=%s is refused once, not for each port", (HOST) => {
    expect(problems(loadAudit, { DATABASE_URL, HOST })).toEqual([
      `HOST is ${HOST}, which is not an address of this machine: set an address of this machine, or 0.0.0.0 for all addresses.`,
    ]);
  });

  // GW-157
  test("for INTERNAL_PORT with REUSE_PORT too, which the platform refuses", () => {
    const INTERNAL_PORT = hold();
    const gateway = {
      HOST: "127.0.0.1",
      ROUTE_STORE_URL: "http://127.0.0.1:9",
      COUNTER_STORE_URL: "memory://",
      CREDENTIAL_VALIDATE_URL: "http://127.0.0.1:9/validate",
      AUDIT_ENABLED: "false",
      REUSE_PORT: "true",
      INTERNAL_PORT,
    };
    expect(problems(loadGateway, gateway)).toEqual([inUse("INTERNAL_PORT", INTERNAL_PORT)]);
    expect(problems(loadPlatform, { ...FREE_PORTS, REUSE_PORT: "true" })).toEqual([
      "REUSE_PORT works only for gateways that run outside the platform: remove it.",
    ]);
  });
});

// OP-60
describe("the platform on an address other than loopback", () => {
  test.each(["0.0.0.0", "::", "192.0.2.1"])("is refused on %s while DEMO is not set", (HOST) => {
    const unset: Record<string, string>[] = [{}, { DEMO: "" }];
    for (const given of unset) {
      expect(problems(loadPlatform, { ...FREE_PORTS, HOST, ...given })).toContain(
        `DEMO is required because HOST is ${HOST}: set true to admit callers by the toy identity provider, or false.`,
      );
    }
  });

  test("is accepted with DEMO, and needs no DEMO on a loopback address", () => {
    for (const given of [{ DEMO: "true" }, PRODUCTION])
      loadPlatform({ ...FREE_PORTS, HOST: "0.0.0.0", ...given });
    for (const HOST of ["127.0.0.1", "127.0.0.2", "localhost"]) loadPlatform({ ...FREE_PORTS, HOST });
  });
});
