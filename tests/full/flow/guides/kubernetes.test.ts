/**
 * Tests of the manifests in apps/platform/deploy/kubernetes, and of the commands in kubernetes.md that create the
 * secrets.
 */
import { beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { auditVariables } from "@ostiary/audit/config";
import { checkSigningKeyFile } from "@ostiary/audit/signing-keys";
import { gatewayVariables } from "@ostiary/gateway/config";
import { identityVariables } from "@ostiary/identity/config";
import { configProblems } from "@ostiary/lib/runtime/config";
import { portalVariables } from "@ostiary/portal/config";
import { registryVariables } from "@ostiary/registry/config";
import { type Static, type TObject, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parseAllDocuments } from "yaml";
import { commandsOf } from "../../../support/documents/documents.ts";
import { Reader } from "../../../support/documents/guide-reader.ts";
import { ROOT } from "../../../support/root.ts";

const GUIDE = ".github/guides/kubernetes.md";
const FOLDER = join(ROOT, "apps/platform/deploy/kubernetes");
const SECRETS = "/run/secrets/ostiary/";
const PARTS: Record<string, TObject> = {
  gateway: gatewayVariables,
  registry: registryVariables,
  identity: identityVariables,
  audit: auditVariables,
  portal: portalVariables,
};

const Variable = Type.Object({
  name: Type.String(),
  value: Type.Optional(Type.String()),
  valueFrom: Type.Optional(
    Type.Object({ configMapKeyRef: Type.Object({ name: Type.String(), key: Type.String() }) }),
  ),
});
const Probe = Type.Object({ httpGet: Type.Object({ path: Type.String(), port: Type.String() }) });
const Container = Type.Object({
  args: Type.Array(Type.String()),
  env: Type.Array(Variable),
  ports: Type.Array(Type.Object({ name: Type.String(), containerPort: Type.Integer() })),
  startupProbe: Probe,
  readinessProbe: Probe,
  livenessProbe: Probe,
  securityContext: Type.Object({
    allowPrivilegeEscalation: Type.Literal(false),
    readOnlyRootFilesystem: Type.Literal(true),
    capabilities: Type.Object({ drop: Type.Tuple([Type.Literal("ALL")]) }),
  }),
});
const Deployment = Type.Object({
  kind: Type.Literal("Deployment"),
  metadata: Type.Object({ name: Type.String() }),
  spec: Type.Object({
    strategy: Type.Object({
      rollingUpdate: Type.Object({ maxUnavailable: Type.Literal(0), maxSurge: Type.Integer({ minimum: 1 }) }),
    }),
    template: Type.Object({
      spec: Type.Object({
        automountServiceAccountToken: Type.Literal(false),
        terminationGracePeriodSeconds: Type.Integer(),
        securityContext: Type.Object({ runAsNonRoot: Type.Literal(true), fsGroup: Type.Integer() }),
        containers: Type.Tuple([Container]),
        volumes: Type.Array(
          Type.Object({ secret: Type.Optional(Type.Object({ secretName: Type.String() })) }),
        ),
      }),
    }),
  }),
});
type Deployment = Static<typeof Deployment>;

const Named = Type.Object({ kind: Type.String(), metadata: Type.Object({ name: Type.String() }) });
const Labelled = Type.Object({
  metadata: Type.Object({ labels: Type.Object({ "app.kubernetes.io/name": Type.String() }) }),
});
const Settings = Type.Object({ data: Type.Record(Type.String(), Type.String()) });

const files = readdirSync(FOLDER).sort();
const manifests: unknown[] = (
  await Promise.all(
    files.map(async (file) =>
      // YAML 1.1, as kubectl reads it: there 0440 is an octal number.
      parseAllDocuments(await Bun.file(join(FOLDER, file)).text(), { version: "1.1" }).map((each) =>
        each.toJS(),
      ),
    ),
  )
).flat();

function deployment(part: string): Deployment {
  const found = manifests.find(
    (each) => Value.Check(Named, each) && each.kind === "Deployment" && each.metadata.name === part,
  );
  return Value.Parse(Deployment, found);
}
const containerOf = (part: string) => deployment(part).spec.template.spec.containers[0];
const namesOf = (kind: string) =>
  manifests.flatMap((each) => (Value.Check(Named, each) && each.kind === kind ? [each.metadata.name] : []));

/** A stand-in for kubectl. It writes its arguments to the file `kubectl-calls`. */
const KUBECTL = 'kubectl() { printf "%s\\n" "$*" >> kubectl-calls; }\n';

let reader: Reader;
/**
 * For each secret of the guide, the paths of its files on this machine, by the file name in the container.
 */
const secrets = new Map<string, Map<string, string>>();

beforeAll(async () => {
  reader = await Reader.open();
  const databases = await commandsOf(GUIDE, "2. The databases");
  await reader.run([KUBECTL, ...databases, ...(await commandsOf(GUIDE, "3. The other secrets"))].join("\n"));
  const calls = (await Bun.file(join(reader.directory, "kubectl-calls")).text()).trim().split("\n");
  for (const call of calls) {
    const [, name, files = ""] = call.match(/^-n ostiary create secret generic (\S+) (.+)$/) ?? [];
    if (name === undefined) continue;
    const entries = Array.from(files.matchAll(/--from-file=(?:([^=\s]+)=)?(\S+)/g), ([, key, path = ""]) => {
      const mounted = key ?? path.split("/").at(-1) ?? "";
      return [mounted, join(reader.directory, path)] as const;
    });
    secrets.set(name, new Map(entries));
  }
});

/** Returns the environment variables of a service's container, with the paths of secrets on this machine. */
function environment(part: string): Record<string, string> {
  const settings = Value.Parse(
    Settings,
    manifests.find((each) => Value.Check(Settings, each)),
  ).data;
  const mounted = secrets.get(`ostiary-${part}`) ?? new Map<string, string>();
  const entries = containerOf(part).env.map(({ name, value, valueFrom }) => {
    const given = value ?? settings[valueFrom?.configMapKeyRef.key ?? ""] ?? "";
    const path = given.startsWith(SECRETS) ? mounted.get(given.slice(SECRETS.length)) : given;
    const here = path?.replace("/ostiary/seeds", join(ROOT, "seeds")) ?? `${given} is in no secret`;
    return [name, here] as const;
  });
  return Object.fromEntries(entries);
}

describe("the Kubernetes manifests", () => {
  test.each(Object.keys(PARTS))(
    "set only environment variables that %s accepts, and mount exactly the secrets of the guide",
    (part) => {
      const schema = PARTS[part] ?? Type.Object({});
      const env = environment(part);
      expect(configProblems(schema, env)).toEqual([]);
      const known = Object.keys(env).filter((name) => !(name.replace(/_FILE$/, "") in schema.properties));
      expect(known.filter((name) => !(name in schema.properties))).toEqual([]);
      if (part === "audit") expect(checkSigningKeyFile(env)).toEqual([]);
      const held = [...(secrets.get(`ostiary-${part}`)?.keys() ?? [])].map((name) => SECRETS + name);
      const used = containerOf(part).env.flatMap(({ value }) => (value?.startsWith(SECRETS) ? [value] : []));
      expect(used.toSorted()).toEqual(held.toSorted());
    },
  );

  test.each(Object.keys(PARTS))("give %s enough time to stop, and probe its health endpoints", (part) => {
    const { spec } = deployment(part).spec.template;
    const env = environment(part);
    const stopMs = Number(env.SHUTDOWN_GRACE_MS) + Number(env.SHUTDOWN_TIMEOUT_MS);
    expect(spec.terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(stopMs + 5_000);
    const { PORT, INTERNAL_PORT } = PARTS[part]?.properties ?? {};
    const container = containerOf(part);
    expect(container.args).toEqual([part]);
    expect(container.ports).toEqual([
      { name: "http", containerPort: PORT?.default },
      { name: "internal", containerPort: INTERNAL_PORT?.default },
    ]);
    expect(container.readinessProbe.httpGet).toEqual({ path: "/health/ready", port: "internal" });
    expect(container.livenessProbe.httpGet).toEqual({ path: "/health/live", port: "internal" });
    expect(container.startupProbe.httpGet).toEqual({ path: "/health/live", port: "internal" });
    // The portal needs no secret.
    expect(spec.volumes.flatMap(({ secret }) => (secret === undefined ? [] : [secret.secretName]))).toEqual(
      part === "portal" ? [] : [`ostiary-${part}`],
    );
  });

  test("are applied once each by an upgrade, those that services share first", async () => {
    const [, upgrade = ""] = await commandsOf("./.github/guides/upgrading.md", "The order");
    await rm(join(reader.directory, "kubectl-calls"));
    await reader.run(`${KUBECTL}${upgrade}`);
    const calls = (await Bun.file(join(reader.directory, "kubectl-calls")).text()).trim().split("\n");
    const applied = calls.flatMap((call) => {
      const [, name] =
        call.match(/^apply -k apps\/platform\/deploy\/kubernetes -l app\.kubernetes\.io\/name=(\S+)$/) ?? [];
      return name === undefined ? [] : [name];
    });
    expect(applied).toEqual(["ostiary", "audit", "identity", "gateway", "registry", "portal"]);
    const labelled = manifests.filter((each) => Value.Check(Named, each));
    expect(labelled.length).toBe(manifests.length - 1);
    for (const each of labelled) {
      const labels = Value.Parse(Labelled, each).metadata.labels;
      expect(applied.filter((name) => name === labels["app.kubernetes.io/name"])).toHaveLength(1);
    }
    expect(
      applied.filter((name) => name in PARTS).map((name) => namesOf("Deployment").includes(name)),
    ).toEqual(Array(5).fill(true));
  });
});
