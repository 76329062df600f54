import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { auditVariables } from "@ostiary/audit/config";
import { retentionVariables } from "@ostiary/audit/retention";
import { gatewayVariables } from "@ostiary/gateway/config";
import { identityVariables } from "@ostiary/identity/config";
import { portalVariables } from "@ostiary/portal/config";
import { registryVariables } from "@ostiary/registry/config";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { ROOT } from "../../../support/root.ts";
import { compose, interpolated, oneProcess, PARTS, service } from "./file.ts";

const variables = {
  gateway: gatewayVariables,
  registry: registryVariables,
  identity: identityVariables,
  audit: auditVariables,
};
const parts = Object.entries(PARTS);
const everything = Object.entries(compose.services);
const dockerfile = await Bun.file(join(ROOT, "apps/platform/deploy/containers/Dockerfile")).text();

test.each([...everything, ...Object.entries(oneProcess.services)])(
  "%s has a read-only disk, no capabilities, and limits of memory and processes",
  (_, each) => {
    expect(each.read_only).toBe(true);
    expect(each.cap_drop).toEqual(["ALL"]);
    expect(each.security_opt).toEqual(["no-new-privileges:true"]);
    expect(each.mem_limit).toMatch(/^(\d+[mg]|\$\{\w+:-\d+[mg]\})$/);
    expect(each.pids_limit).toBeGreaterThan(0);
  },
);

describe("compose.yaml", () => {
  test.each(parts)("%s gets only environment variables that %s reads", (name, app) => {
    const known = Object.keys(variables[app].properties);
    const given = Object.keys(service(name).environment ?? {});
    const read = given.filter(
      (variable) => known.includes(variable) || known.includes(variable.slice(0, -5)),
    );
    expect(read).toEqual(given);
  });

  test("a service has time to finish its requests before the engine kills it", () => {
    for (const [name, app] of parts) {
      const { stop_grace_period = "", environment = {} } = service(name);
      const graceMs = Number(interpolated(environment.SHUTDOWN_GRACE_MS ?? "0"));
      const timeoutMs = variables[app].properties.SHUTDOWN_TIMEOUT_MS.default;
      expect(Number.parseInt(stop_grace_period, 10) * 1_000).toBeGreaterThan(graceMs + timeoutMs);
    }
  });

  test("only the port of the balancer is open to other machines", () => {
    const open = everything.flatMap(([name, { ports = [] }]) =>
      ports.filter((port) => !port.startsWith("127.0.0.1:")).map((port) => [name, interpolated(port)]),
    );
    expect(open).toEqual([["balancer", "5001:5001"]]);
  });

  test("secrets are files, not environment variables, and are mounted only where a variable names them", () => {
    const secret = Object.values(variables).flatMap(({ properties }) =>
      Object.entries(properties).flatMap(([name, rule]) => ("secret" in rule ? [name] : [])),
    );
    const credentials = secret.filter((name) => !name.endsWith("STORE_URL"));
    expect(credentials).toContain("DATABASE_URL");
    for (const [name, { environment = {}, secrets = [] }] of everything) {
      expect(Object.keys(environment).filter((variable) => credentials.includes(variable))).toEqual([]);
      const mounted = Object.values(environment).filter((value) => value.startsWith("/run/secrets/"));
      const named = mounted.map((path) => path.slice("/run/secrets/".length));
      // haproxy.cfg names the balancer's certificate, so no environment variable does.
      const given = secrets.filter((secret) => secret !== "balancer-certificate");
      expect([name, named.toSorted()]).toEqual([name, given.toSorted()]);
    }
  });
});

// PT-1
test("the portal has no secret, needs no store, and gets only environment variables that it reads", () => {
  const { command, environment = {}, secrets, depends_on, profiles } = service("portal");
  expect({ command, secrets, depends_on, profiles }).toEqual({
    command: ["portal"],
    secrets: undefined,
    depends_on: undefined,
    profiles: ["portal"],
  });
  for (const name of Object.keys(environment))
    expect(Object.keys(portalVariables.properties)).toContain(name);
  expect(service("portal-catalog").command).toEqual(["portal=http://portal:3004"]);
});

// PT-46
test("the demo publishes the API description for the portal; otherwise this needs the profile description", async () => {
  const demo = await Bun.file(join(ROOT, "apps/platform/deploy/containers/demo.env")).text();
  expect(demo.split("\n")).toEqual(
    expect.arrayContaining([
      "COMPOSE_PROFILES=demo,portal,description",
      "PORTAL_CLIENT_ID=portal",
      "EDGE_DOCUMENT_PUBLIC=true",
    ]),
  );
  const { EDGE_DOCUMENT_PUBLIC = "" } = service("registry").environment ?? {};
  expect(interpolated(EDGE_DOCUMENT_PUBLIC)).toBe("false");
  const { command, profiles } = service("description-catalog");
  expect({ command, profiles }).toEqual({
    command: ["registry=http://registry:5002"],
    profiles: ["description"],
  });
});

// OP-72
test("the retention job runs only with its profile, with its own database role", () => {
  const { command, profiles, environment = {}, secrets = [], depends_on = {} } = service("audit-retention");
  expect({ command, profiles }).toEqual({ command: ["audit", "retention"], profiles: ["retention"] });
  expect(secrets).toEqual(["audit-owner-database-url", "audit-signing-key"]);
  const known = Object.keys(retentionVariables.properties);
  for (const name of Object.keys(environment)) {
    expect(known).toContain(known.includes(name) ? name : name.replace(/_FILE$/, ""));
  }
  expect(depends_on["database-roles"]).toEqual({ condition: "service_completed_successfully" });
  expect(service("database-roles").secrets).toContain("audit-owner-database-url");
  expect(service("audit").secrets).not.toContain("audit-owner-database-url");
});

test.each(["registry", "identity", "audit"])(
  "%s has its own PostgreSQL role, which is made before the service starts",
  (name) => {
    const { environment = {}, secrets = [], depends_on = {} } = service(name);
    expect(environment.DATABASE_URL_FILE).toBe(`/run/secrets/${name}-database-url`);
    expect(secrets.filter((secret) => secret.endsWith("-database-url"))).toEqual([`${name}-database-url`]);
    expect(depends_on["database-roles"]).toEqual({ condition: "service_completed_successfully" });
    expect(service("database-roles").secrets).toContain(`${name}-database-url`);
    expect(secrets).not.toContain("postgres-password");
  },
);

describe("the image", () => {
  const [, ...stages] = dockerfile.split(/^(?=FROM )/m);
  const image = stages.at(-1) ?? "";

  test("has no shell, and nothing needs one: a health check, command or start runs bun or a word of ostiary", () => {
    expect(image).toMatch(/^FROM \S+-distroless$/m);
    expect(image).not.toMatch(/^RUN /m);
    expect(image).toMatch(/^USER 1000:1000$/m);
    for (const line of image.match(/^(ENTRYPOINT|CMD|\s+CMD) .*/gm) ?? [])
      expect(line).toMatch(/(ENTRYPOINT|CMD) \[/);
    const ours = [...everything, ...Object.entries(oneProcess.services)].filter(([, each]) =>
      each.image.startsWith("${OSTIARY_IMAGE:-"),
    );
    expect(ours.length).toBeGreaterThan(parts.length);
    for (const [name, { entrypoint = ["bun"], healthcheck = {} }] of ours) {
      expect([name, entrypoint[0]]).toEqual([name, "bun"]);
      expect([name, healthcheck.test?.slice(0, 2) ?? ["CMD", "bun"]]).toEqual([name, ["CMD", "bun"]]);
    }
  });

  test("is built with a company's npmrc and CA as build secrets, which the image does not contain", () => {
    const build = Value.Parse(
      Type.Object({ build: Type.Object({ secrets: Type.Array(Type.String()) }) }),
      service("gateway-1"),
    ).build;
    const [install = ""] = /^RUN --mount[\s\S]*?bun install[^\n]*/m.exec(dockerfile) ?? [];
    expect(build.secrets).toEqual(["npmrc", "build-ca"]);
    for (const secret of build.secrets) {
      expect(install).toContain(`--mount=type=secret,id=${secret},`);
      // Without a file from the operator, the secret is /dev/null and therefore empty.
      expect(compose.secrets[secret]?.file).toMatch(/^\$\{[A-Z_]+:-\/dev\/null\}$/);
    }
    expect(install).toContain("if [ -s /run/build-ca.pem ]; then set -- --cafile /run/build-ca.pem; fi");
    expect(dockerfile.match(/bun install/g)).toHaveLength(1);
  });
});
