/** Tests that a refused start reports every problem at once, and no secret (OP-5, OP-6). */
import { afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { freePort } from "../../../support/http/free-port.ts";
import { ProcessEnded, type RunningProcess, startProcess } from "../../../support/processes/start-process.ts";
import { rejection } from "../../../support/rejection.ts";
import { freshDatabase, freshRouteStoreUrl, services, startRedis } from "../../../support/stores/services.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { waitFor } from "../../../support/time/wait-for.ts";

setDefaultTimeout(60_000);

const SECRET = "hunter2";
const { redis, etcd } = services();
const started: RunningProcess[] = [];
let directory: string;
let roles: string;
/** The URL of an etcd that no test writes to. */
let routeStore = "";

beforeAll(async () => {
  if (etcd.own) routeStore = await freshRouteStoreUrl();
  directory = temporaryFolder("refused");
  roles = join(directory, "roles.yaml");
  await writeFile(
    roles,
    "roles:\n  owner: [Bad]\n  extra: 7\ncreator_role: owner\ndefault_role: owner\nunknown: 1\n",
  );
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.kill()));
});

/** Expects that `app` does not start and that its output has no secret. */
async function refusal(app: string, env: Record<string, string>): Promise<ProcessEnded> {
  const failure = await rejection(startProcess(`apps/${app}/main.ts`, env));
  if (!(failure instanceof ProcessEnded)) throw failure;
  expect([...failure.stdout, ...failure.stderr].join("\n")).not.toContain(SECRET);
  return failure;
}

/**
 * Expects exit code 78, and returns the problems on standard error in alphabetical order. Each problem starts
 * with its environment variable, although standard error names a variable only once.
 */
async function problems(app: string, env: Record<string, string>): Promise<string[]> {
  const { exitCode, stderr } = await refusal(app, env);
  const [headline, ...lines] = stderr;
  expect([exitCode, headline]).toEqual([78, "The configuration is not valid:"]);
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
  test("by the gateway", async () => {
    const port = String(freePort());
    const lines = await problems("gateway", {
      ...{ PORT: port, INTERNAL_PORT: port, ROUTE_STORE_URL: "memory://", MAX_BODY_BYTES: "1e3" },
      ...{
        CREDENTIAL_VALIDATE_URL: `u:${SECRET}@identity`,
        ALLOWED_ORIGINS: "https://a/",
        REUSE_PORT: "yes",
      },
      ...{ AUTH_ALLOWED_AUDIENCES: ",", INTERNAL_AUTH_TOKEN: `${SECRET} ${SECRET}` },
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

  // OP-13
  test("by the registry", async () => {
    const lines = await problems("registry", {
      ...{ PORT: "x", ROUTE_STORE_URL: "memory://", SEED_ROUTES_DIR: "/nowhere", SWAGGER_ENABLED: "yes" },
      ...{ DATABASE_URL: `mysql://root:${SECRET}@db`, ADMIN_TOKEN: `${SECRET} ${SECRET}` },
    });
    expect(lines).toEqual([
      `ADMIN_TOKEN must be the admin API's bearer token, ${TOKEN_RULE}`,
      `DATABASE_URL ${DATABASE_RULE}`,
      `PORT ${WHOLE} 0 to 65535.`,
      "ROUTE_STORE_URL is memory://, which no other process can read: set the URL of etcd, or start the platform app.",
      "SEED_ROUTES_DIR must be a readable directory of YAML files that are applied at start.",
      "SWAGGER_ENABLED must be true or false.",
    ]);
  });

  // ID-70
  test("by identity, with each problem of the roles file", async () => {
    const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
    const lines = await problems("identity", {
      ...{ DATABASE_URL: "pglite:///", ROLES_FILE: roles, APIKEY_BRAND: "", PORT: String(taken.port) },
      ...{ APIKEY_MAX_AGE_SECONDS: "59", PLAIN_HASHES_ACCEPTED: "false" },
      ...{ SECRET_PEPPER_PREVIOUS: `${SECRET} with spaces`.padEnd(40, "*") },
    }).finally(() => taken.stop(true));
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

  test("by identity, which refuses two equal peppers", async () => {
    const pepper = `${SECRET}-`.padEnd(32, "x");
    const env = { DATABASE_URL: "pglite://memory", SECRET_PEPPER: pepper, SECRET_PEPPER_PREVIOUS: pepper };
    expect(await problems("identity", env)).toEqual([
      "SECRET_PEPPER_PREVIOUS is the same as SECRET_PEPPER: set it to the other pepper, or leave it unset.",
    ]);
  });

  // AU-116
  test("by audit", async () => {
    const lines = await problems("audit", {
      ...{ DATABASE_URL: "pglite:///", LOG_FILE: "/nowhere/log", LOG_LEVEL: "loud", HOST: "300.1.1.1" },
      ...{ SEAL_INTERVAL_MS: "3001", AUDIT_OPERATOR_STREAM_URL: "https://siem.example.com/" },
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

  test("by the demo", async () => {
    expect(await problems("demo", { PORT: "-1", IDENTITY_PROVIDER_PORT: "70000" })).toEqual([
      `IDENTITY_PROVIDER_PORT ${WHOLE} 0 to 65535.`,
      `PORT ${WHOLE} 0 to 65535.`,
    ]);
  });

  // OP-5
  test("by the platform, for itself and all its services, before it writes anything", async () => {
    const DATA_DIR = join(directory, "data");
    const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
    const lines = await problems("platform", {
      ...{ DATA_DIR, DEMO: "maybe", GATEWAY_PORT: "http", REGISTRY_PORT: String(taken.port) },
      ...{ AUDIT_PORT: "0", IDENTITY_PORT: "0", DATABASE_URL: `mysql://u:${SECRET}@h`, ROLES_FILE: roles },
      ...{ ROUTE_STORE_URL: "etcd", COUNTER_STORE_URL: "redis+cluster://", ADMIN_TOKEN: `${SECRET} 2` },
      ...{
        RATE_LIMIT_REQUESTS: "-1",
        RECONCILE_INTERVAL_MS: "1",
        APIKEY_BRAND: "Acme",
        SECRET_PEPPER: `${SECRET}-too-short`,
        PLAIN_HASHES_ACCEPTED: "false",
        SWAGGER_ENABLED: "yes",
      },
      ...{ INTERNAL_AUTH_TOKEN: `${SECRET} 2`, MAX_BODY_BYTES: "+5", AUTH_JWKS_URI: "jwks" },
      ...{ GATEWAY_INTERNAL_PORT: "0", REGISTRY_INTERNAL_PORT: "0", IDENTITY_INTERNAL_PORT: "0" },
      ...{
        AUDIT_INTERNAL_PORT: "0",
        PORTAL_PORT: "0",
        PORTAL_INTERNAL_PORT: "0",
        DEMO_PORT: "0",
        DEMO_IDENTITY_PROVIDER_PORT: "0",
      },
    }).finally(() => taken.stop(true));
    expect(lines.map((line) => line.split(" ")[0])).toEqual([
      ...["ADMIN_TOKEN", "APIKEY_BRAND", "AUTH_JWKS_URI", "COUNTER_STORE_URL", "DATABASE_URL", "DEMO"],
      ...["GATEWAY_PORT", "INTERNAL_AUTH_TOKEN", "MAX_BODY_BYTES", "RATE_LIMIT_REQUESTS"],
      ...["RECONCILE_INTERVAL_MS", "REGISTRY_PORT", "ROLES_FILE", "ROLES_FILE", "ROLES_FILE"],
      ...["ROUTE_STORE_URL", "SECRET_PEPPER", "SWAGGER_ENABLED"],
    ]);
    expect(lines).toEqual(expect.arrayContaining(ROLES_PROBLEMS));
    expect(existsSync(DATA_DIR)).toBe(false);
  });

  test("by the gateway, which requires AUDIT_URL only if audit is enabled", async () => {
    const env = { COUNTER_STORE_URL: "memory://", CREDENTIAL_VALIDATE_URL: "http://identity", PORT: "x" };
    expect(await problems("gateway", { ...env, AUDIT_URL: "audit:3003" })).toEqual([
      "AUDIT_URL must be an absolute http:// or https:// URL without query and fragment.",
      `PORT ${WHOLE} 0 to 65535.`,
    ]);
    expect(await problems("gateway", { ...env, AUDIT_ENABLED: "false" })).toEqual([
      `PORT ${WHOLE} 0 to 65535.`,
    ]);
  });
});

describe.each([
  ["gateway", ["COUNTER_STORE_URL", "CREDENTIAL_VALIDATE_URL", "PORT"]],
  ["registry", ["ADMIN_TOKEN", "DATABASE_URL", "PORT"]],
  ["identity", ["DATABASE_URL", "PORT"]],
  ["audit", ["DATABASE_URL", "PORT"]],
  ["portal", ["AUTH_ISSUER", "PORTAL_CLIENT_ID", "PORT"]],
])("%s without its required environment variables", (app, missing) => {
  // OP-5
  test("exits with 78 and names every missing or wrong variable on stderr", async () => {
    const { exitCode, stderr } = await refusal(app, { PORT: "seventy" });
    expect(exitCode).toBe(78);
    const named = stderr.slice(1).map((line) => line.trim().split(" ")[0] ?? "");
    expect(named).toEqual(expect.arrayContaining(missing));
    expect(stderr.find((line) => line.includes("PORT must"))).toBe(
      "  PORT must be a whole number from 0 to 65535.",
    );
  });
});

// OP-14
describe("the start fails with exit code 1 and names the variable of an unusable store", () => {
  const away = async (app: string, env: Record<string, string>, variable: string) => {
    const { exitCode, stderr } = await refusal(app, env);
    expect([exitCode, stderr]).toEqual([
      1,
      [expect.stringMatching(new RegExp(`^Could not start: .*${variable}`))],
    ]);
  };

  test.each(["registry", "identity", "audit", "platform"])("DATABASE_URL of %s", async (app) => {
    const DATABASE_URL = `postgres://u:${SECRET}@127.0.0.1:${freePort()}/x`;
    const free = Object.fromEntries(
      ["GATEWAY", "REGISTRY", "IDENTITY", "AUDIT", "PORTAL"]
        .flatMap((part) => [`${part}_PORT`, `${part}_INTERNAL_PORT`])
        .map((variable) => [variable, "0"]),
    );
    const own = { DEMO: "false", DATA_DIR: join(directory, "platform"), ADMIN_TOKEN: "token" };
    await away(app, { ...free, ...own, DATABASE_URL }, "DATABASE_URL");
  });

  test("ROUTE_STORE_URL of the gateway", async () => {
    const ROUTE_STORE_URL = `http://u:${SECRET}@127.0.0.1:${freePort()}`;
    await away("gateway", { ...GATEWAY, ROUTE_STORE_URL }, "ROUTE_STORE_URL");
  });

  // RG-101, OP-14
  test.skipIf(!etcd.own)(
    "ROUTE_STORE_URL of the gateway and the registry, with a user that the route store refuses",
    async () => {
      const ROUTE_STORE_URL = routeStore.replace("//", `//root:${SECRET}@`);
      await away("gateway", { ...GATEWAY, ROUTE_STORE_URL }, "ROUTE_STORE_URL");
      const env = { ROUTE_STORE_URL, DATABASE_URL: await freshDatabase(), ADMIN_TOKEN: "token" };
      await away("registry", env, "ROUTE_STORE_URL");
    },
  );

  test.skipIf(!etcd.own || !redis.binary)("COUNTER_STORE_URL with a wrong password", async () => {
    const server = await startRedis();
    const admin = new Redis(server.url);
    await admin.config("SET", "requirepass", "another");
    admin.disconnect();
    const COUNTER_STORE_URL = server.url.replace("//", `//:${SECRET}@`);
    const env = { ...GATEWAY, ROUTE_STORE_URL: routeStore, COUNTER_STORE_URL };
    await away("gateway", env, "COUNTER_STORE_URL").finally(() => server.close());
  });
});

const GATEWAY = {
  COUNTER_STORE_URL: "memory://",
  CREDENTIAL_VALIDATE_URL: "http://127.0.0.1:9/validate",
  AUDIT_ENABLED: "false",
};

describe.skipIf(!etcd.own)("the gateway starts, is not ready, and logs the reason", () => {
  // GW-161
  test.each([
    [["AUTH_JWKS_URI"], { AUTH_ISSUER: "https://login.example.com" }],
    [["AUTH_ISSUER"], { AUTH_JWKS_URI: "http://127.0.0.1:9/jwks" }],
    [["AUTH_ISSUER", "AUTH_JWKS_URI"], {}],
  ])("without %p", async (missing, env) => {
    const gateway = await startProcess("apps/gateway/main.ts", {
      ...GATEWAY,
      ROUTE_STORE_URL: routeStore,
      ...env,
    });
    started.push(gateway);
    const line = await waitFor(() => gateway.logs().find((each) => "missing" in each));
    expect(line).toMatchObject({ level: "warn", missing });
    expect((await fetch(`${gateway.internalUrl}/health/ready`)).status).toBe(503);
  });

  // OP-15
  test("while the counter store is down", async () => {
    const COUNTER_STORE_URL = `redis://:${SECRET}@127.0.0.1:${freePort()}`;
    const env = { ...GATEWAY, ROUTE_STORE_URL: routeStore, COUNTER_STORE_URL };
    const gateway = await startProcess("apps/gateway/main.ts", env);
    started.push(gateway);
    await waitFor(() => gateway.logs().some(({ message }) => String(message).includes("COUNTER_STORE_URL")));
    expect((await fetch(`${gateway.internalUrl}/health/ready`)).status).toBe(503);
    expect(gateway.stdout.join("\n")).not.toContain(SECRET);
  });
});
