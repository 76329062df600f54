/** Tests of the units and environment files in `apps/platform/deploy/systemd`, and of the guide that installs them. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { auditVariables } from "@ostiary/audit/config";
import { gatewayVariables } from "@ostiary/gateway/config";
import { identityVariables } from "@ostiary/identity/config";
import { configProblems } from "@ostiary/lib/runtime/config";
import { portalVariables } from "@ostiary/portal/config";
import { registryVariables } from "@ostiary/registry/config";
import { loadPlatform, platformVariables } from "../../../../apps/platform/config.ts";
import { FREE_PORTS, productionSecrets } from "../../../app/platform/bed.ts";
import { commandsOf } from "../../../support/documents/documents.ts";
import { ROOT } from "../../../support/root.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const FOLDER = join(ROOT, "apps/platform/deploy/systemd");
const guide = readFileSync(join(ROOT, ".github/guides/one-machine-systemd.md"), "utf8");

const apps = {
  gateway: { unit: "ostiary-gateway@.service", schema: gatewayVariables },
  registry: { unit: "ostiary-registry.service", schema: registryVariables },
  identity: { unit: "ostiary-identity.service", schema: identityVariables },
  audit: { unit: "ostiary-audit.service", schema: auditVariables },
  portal: { unit: "ostiary-portal.service", schema: portalVariables },
};

/** Values of environment variables that the files leave to the operator. */
const GIVEN: Record<string, string> = {
  DATABASE_URL: "postgres://ostiary:secret@127.0.0.1:5432/ostiary",
  COUNTER_STORE_URL: "redis://127.0.0.1:6379",
  ADMIN_TOKEN: "admin-token",
  INTERNAL_AUTH_TOKEN: "internal-token",
  // These paths exist here. They replace the paths on the operator's machine that the environment files name.
  ROLES_FILE: join(ROOT, "seeds/roles.yaml"),
  OPERATORS_FILE: join(ROOT, "seeds/operators.yaml"),
};

const textOf = (file: string) => readFileSync(join(FOLDER, file), "utf8");

/** Returns the values of a setting of a unit, in the order of its lines. */
const settings = (unit: string, name: string): string[] =>
  textOf(unit)
    .split("\n")
    .filter((line) => line.startsWith(`${name}=`))
    .map((line) => line.slice(name.length + 1));

function variablesIn(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}

/**
 * Returns the environment variables of a unit: those of its environment files, and those that it sets itself.
 */
function environmentOf(unit: string): Record<string, string> {
  const files = settings(unit, "EnvironmentFile").map((path) =>
    variablesIn(textOf(path.replace("/etc/ostiary/", ""))),
  );
  const own = settings(unit, "Environment").flatMap((line) => line.split(" "));
  return Object.assign({}, ...files, variablesIn(own.join("\n")));
}

describe.each(Object.entries(apps))("the unit of %s", (app, { unit, schema }) => {
  const environment = environmentOf(unit);

  test("sets only environment variables of its service, and all required ones", () => {
    for (const name of Object.keys(environment)) {
      const secret = name.endsWith("_FILE") && !(name in schema.properties);
      const known = secret ? name.slice(0, -"_FILE".length) : name;
      expect(Object.keys(schema.properties)).toContain(known);
      if (secret)
        expect(Object.entries(schema.properties).find(([each]) => each === known)?.[1]).toMatchObject({
          secret: true,
        });
    }
    const values = Object.entries(environment).map(([name, value]): [string, string] => {
      const known = name.replace(/_FILE$/, "");
      if (name in GIVEN) return [name, GIVEN[name] ?? ""];
      return known in GIVEN ? [known, GIVEN[known] ?? ""] : [name, value.replaceAll("%i", "8101")];
    });
    expect(configProblems(schema, Object.fromEntries(values))).toEqual([]);
  });

  test("passes secrets only as credentials that the guide creates", () => {
    const loaded = settings(unit, "LoadCredential").map((line) => line.split(":"));
    for (const [name = "", path = ""] of loaded) {
      expect(Object.values(environment)).toContain(`%d/${name}`);
      const file = path.slice(path.lastIndexOf("/") + 1);
      expect({ file, made: guide.includes(file.replace(`${app}-database`, "$service-database")) }).toEqual({
        file,
        made: true,
      });
    }
    for (const [name, rule] of Object.entries(schema.properties)) {
      if (rule.secret === true && name !== "ROUTE_STORE_URL") expect(environment).not.toContainKey(name);
    }
  });

  test("gives the service enough time to stop, and does not restart it after exit code 78", () => {
    const stopMs = Number(environment.SHUTDOWN_GRACE_MS) + Number(environment.SHUTDOWN_TIMEOUT_MS);
    expect(Number(settings(unit, "TimeoutStopSec")[0]) * 1000).toBeGreaterThan(stopMs + 10_000);
    expect(settings(unit, "RestartPreventExitStatus")).toEqual(["78"]);
  });
});

test("a gateway refuses requests before it reaches its memory limit, and has enough file descriptors", () => {
  const environment = environmentOf(apps.gateway.unit);
  const [memory = ""] = settings(apps.gateway.unit, "MemoryMax");
  expect(Number(environment.MAX_MEMORY_BYTES)).toBeLessThan(0.8 * Number(memory.replace("G", "")) * 2 ** 30);
  const descriptors = Number(settings(apps.gateway.unit, "LimitNOFILE")[0]);
  expect(descriptors).toBeGreaterThan(4 * gatewayVariables.properties.MAX_REQUESTS_IN_FLIGHT.default);
});

// OP-9, OP-136
describe("the unit of one process", () => {
  const unit = "ostiary.service";
  const text = readFileSync(join(ROOT, ".github/guides/one-process.md"), "utf8");

  test("has every setting of production, with secrets from credentials that the guide creates", async () => {
    const environment = environmentOf(unit);
    const { ADMIN_TOKEN, INTERNAL_AUTH_TOKEN, AUDIT_SIGNING_KEY_FILE } = await productionSecrets();
    const given: Record<string, string> = {
      DATABASE_URL_FILE: fileOf("database-url", GIVEN.DATABASE_URL),
      ADMIN_TOKEN_FILE: fileOf("admin-token", ADMIN_TOKEN),
      INTERNAL_AUTH_TOKEN_FILE: fileOf("internal-auth-token", INTERNAL_AUTH_TOKEN),
      AUDIT_SIGNING_KEY_FILE,
      AUDIT_STREAM_KEY_FILE: fileOf("audit-stream-keys", Buffer.alloc(32, 1).toString("base64")),
      DATA_DIR: folder,
    };
    for (const [name, value] of Object.entries(environment))
      if (value.startsWith("%d/")) expect(given).toHaveProperty(name);
    expect(loadPlatform({ ...environment, ...given, ...FREE_PORTS })).toMatchObject({ DEMO: false });
    for (const line of settings(unit, "LoadCredential")) {
      const [name = "", path = ""] = line.split(":");
      expect(Object.values(environment)).toContain(`%d/${name}`);
      expect(text).toContain(path.slice(path.lastIndexOf("/") + 1));
    }
  });

  test("has time to stop, memory above the gateway's own limit, and no restart after exit code 78", () => {
    const environment = environmentOf(unit);
    expect(Number(settings(unit, "TimeoutStopSec")[0]) * 1000).toBeGreaterThan(
      Number(environment.SHUTDOWN_TIMEOUT_MS) + 10_000,
    );
    expect(Number(environment.MAX_MEMORY_BYTES)).toBeLessThan(0.8 * 2 * 2 ** 30);
    expect(settings(unit, "MemoryMax")).toEqual(["2G"]);
    expect(settings(unit, "RestartPreventExitStatus")).toEqual(["78"]);
  });
});

// OP-4
test("separate processes start beside the one process, on other ports", async () => {
  const [prepare = ""] = await commandsOf(".github/guides/one-process.md", "To separate processes");
  const etc = temporaryFolder("etc-ostiary");
  mkdirSync(join(etc, "credentials"));
  writeFileSync(join(etc, "credentials/database-url"), "postgres://");
  const here = prepare
    .replaceAll("/etc/systemd/system/", `${temporaryFolder("units")}/`)
    .replaceAll("/etc/ostiary", etc)
    .replaceAll("/opt/ostiary/current", ROOT);
  const ran = Bun.spawnSync(["bash", "-euc", here]);
  expect({ code: ran.exitCode, stderr: `${ran.stderr}` }).toEqual({ code: 0, stderr: "" });
  const variables = (name: string) => variablesIn(readFileSync(join(etc, `${name}.env`), "utf8"));
  const [gateway, identity, audit] = [variables("gateway"), variables("identity"), variables("audit")];
  expect(gateway).toMatchObject({
    CREDENTIAL_VALIDATE_URL: `http://127.0.0.1:${identity.INTERNAL_PORT}/internal/credentials/validate`,
    AUDIT_URL: `http://127.0.0.1:${audit.INTERNAL_PORT}`,
  });
  const taken = Object.entries(platformVariables.properties).flatMap(([name, rule]) =>
    name.endsWith("_PORT") ? [String(rule.default)] : [],
  );
  const ports = [gateway, identity, audit, variables("registry")].flatMap((each) =>
    [each.PORT, each.INTERNAL_PORT].filter((port) => port !== undefined),
  );
  expect(ports).toHaveLength(7);
  expect(new Set([...taken, ...ports]).size).toBe(taken.length + ports.length);
});

const folder = temporaryFolder("one-process");

function fileOf(name: string, text = ""): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}
