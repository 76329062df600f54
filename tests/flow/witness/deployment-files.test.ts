/** Tests of the files in `.github/witness` that run a witness with Docker, systemd or Kubernetes. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readNoteKey } from "@ostiary/lib/domain/tlog";
import { configProblems } from "@ostiary/lib/runtime/config";
import { witnessVariables } from "@ostiary/witness/config";
import { loadLogsFile } from "@ostiary/witness/logs";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parse, parseAllDocuments } from "yaml";
import { blocksOf } from "../../support/documents.ts";
import { ROOT } from "../../support/root.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { interpolated } from "../compose/file.ts";

const FOLDER = join(ROOT, ".github/witness");
const textOf = (file: string) => readFileSync(join(FOLDER, file), "utf8");

const Container = Type.Object({
  args: Type.Array(Type.String()),
  env: Type.Array(
    Type.Object({
      name: Type.String(),
      value: Type.Optional(Type.String()),
      valueFrom: Type.Optional(Type.Object({ configMapKeyRef: Type.Object({ key: Type.String() }) })),
    }),
  ),
  securityContext: Type.Object({
    allowPrivilegeEscalation: Type.Literal(false),
    readOnlyRootFilesystem: Type.Literal(true),
    capabilities: Type.Object({ drop: Type.Tuple([Type.Literal("ALL")]) }),
  }),
});
const Pod = Type.Object({
  automountServiceAccountToken: Type.Literal(false),
  terminationGracePeriodSeconds: Type.Integer(),
  securityContext: Type.Object({ runAsNonRoot: Type.Literal(true), fsGroup: Type.Integer() }),
  initContainers: Type.Tuple([Container]),
  containers: Type.Tuple([Container]),
});
const Claim = Type.Object({
  spec: Type.Object({ accessModes: Type.Tuple([Type.Literal("ReadWriteOncePod")]) }),
});
const StatefulSet = Type.Object({
  kind: Type.Literal("StatefulSet"),
  spec: Type.Object({
    replicas: Type.Literal(1),
    template: Type.Object({ spec: Pod }),
    volumeClaimTemplates: Type.Tuple([Claim]),
  }),
});
const ConfigMap = Type.Object({
  kind: Type.Literal("ConfigMap"),
  data: Type.Object({ name: Type.String(), "logs.yaml": Type.String() }),
});
const Compose = Type.Object({
  services: Type.Object({
    witness: Type.Object({
      command: Type.Tuple([Type.Literal("witness")]),
      read_only: Type.Literal(true),
      cap_drop: Type.Tuple([Type.Literal("ALL")]),
      security_opt: Type.Tuple([Type.Literal("no-new-privileges:true")]),
      mem_limit: Type.String(),
      pids_limit: Type.Integer(),
      stop_grace_period: Type.String({ pattern: "^\\d+s$" }),
      environment: Type.Record(Type.String(), Type.String()),
      volumes: Type.Tuple([Type.String()]),
      ports: Type.Tuple([Type.String()]),
    }),
  }),
});

/** Returns the problems of a witness's environment variables, and the names that a witness does not know. */
function problemsOf(environment: Record<string, string>): unknown[] {
  const unknown = Object.keys(environment).filter((name) => !(name in witnessVariables.properties));
  return [...configProblems(witnessVariables, environment), ...unknown];
}

/** Returns the origins of the logs that a witness reads from a logs file with this text. */
function logsIn(text: string): string[] {
  const path = join(temporaryFolder("witness-files"), "logs.yaml");
  writeFileSync(path, text);
  return [...loadLogsFile(path).keys()];
}

// OP-90
test("with Docker the witness has its own folder, no capabilities, and a port only for this machine", () => {
  const { witness } = Value.Parse(Compose, parse(textOf("compose.yaml"))).services;
  const settings = new Map([
    ["WITNESS_NAME", "witness.example.com/w1"],
    ["WITNESS_FOLDER", "/var/lib/ostiary-witness"],
  ]);
  const environment = Object.fromEntries(
    Object.entries(witness.environment).map(([name, value]) => [name, interpolated(value, settings)]),
  );
  expect(problemsOf(environment)).toEqual([]);
  expect(interpolated(witness.volumes[0], settings)).toBe("/var/lib/ostiary-witness:/var/lib/witness");
  for (const name of ["WITNESS_KEY_FILE", "WITNESS_STATE_FILE", "WITNESS_LOGS_FILE"]) {
    expect(environment[name]).toStartWith("/var/lib/witness/");
  }
  expect(interpolated(witness.ports[0])).toBe("127.0.0.1:3006:3006");
  const { SHUTDOWN_TIMEOUT_MS } = witnessVariables.properties;
  expect(Number.parseInt(witness.stop_grace_period, 10) * 1_000).toBeGreaterThan(SHUTDOWN_TIMEOUT_MS.default);
});

// OP-90
describe("a witness with systemd", () => {
  const unit = textOf("ostiary-witness.service");
  const settings = (name: string) =>
    Array.from(unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm")), ([, value = ""]) => value);
  const lines = textOf("witness.env").trimEnd().split("\n");
  const environment: Record<string, string> = Object.fromEntries(lines.map((line) => line.split("=", 2)));

  test("has valid environment variables, its own folder and enough time to stop", () => {
    const [program = ""] = settings("ExecStart");
    expect(program).toBe("/usr/local/bin/bun apps/witness/main.ts");
    expect(existsSync(join(ROOT, program.split(" ")[1] ?? ""))).toBe(true);
    expect(problemsOf(environment)).toEqual([]);
    const state = `/var/lib/${settings("StateDirectory")[0]}/`;
    expect(environment.WITNESS_KEY_FILE).toStartWith(state);
    expect(environment.WITNESS_STATE_FILE).toStartWith(state);
    expect(settings("ExecStartPost")[0]).toEndWith(`:${environment.INTERNAL_PORT}/health/ready`);
    expect(settings("RestartPreventExitStatus")).toEqual(["78"]);
    const stopMs = Number(environment.SHUTDOWN_GRACE_MS) + Number(environment.SHUTDOWN_TIMEOUT_MS);
    expect(Number(settings("TimeoutStopSec")[0]) * 1_000).toBeGreaterThan(stopMs + 10_000);
  });

  test.skipIf(Bun.which("systemd-analyze") === null)("has a unit that systemd-analyze accepts", () => {
    const path = join(temporaryFolder("witness-files"), "ostiary-witness.service");
    writeFileSync(path, unit.replaceAll("/usr/local/bin/bun", process.execPath));
    const { exitCode, stderr } = Bun.spawnSync(["systemd-analyze", "verify", "--man=no", path]);
    expect({ exitCode, said: stderr.toString() }).toEqual({ exitCode: 0, said: "" });
  });
});

// OP-90
describe("a witness on Kubernetes", () => {
  const manifests: unknown[] = parseAllDocuments(textOf("kubernetes.yaml")).map((each) => each.toJS());
  const found = manifests.find((each) => Value.Check(StatefulSet, each));
  const pod = Value.Parse(StatefulSet, found).spec.template.spec;
  const { data } = Value.Parse(
    ConfigMap,
    manifests.find((each) => Value.Check(ConfigMap, each)),
  );
  const [init] = pod.initContainers;
  const [witness] = pod.containers;
  const environment = Object.fromEntries(witness.env.map(({ name, value = data.name }) => [name, value]));

  test("is one unprivileged pod with valid environment variables and a valid logs file", () => {
    expect(problemsOf(environment)).toEqual([]);
    expect(init.env).toEqual(witness.env);
    expect(witness.args).toEqual(["witness"]);
    const stopMs = Number(environment.SHUTDOWN_GRACE_MS) + Number(environment.SHUTDOWN_TIMEOUT_MS);
    expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThanOrEqual(stopMs + 5_000);
    expect(logsIn(data["logs.yaml"])).toEqual(["audit.example.com/log"]);
  });

  test("gets a key on a new volume, and keeps an existing key", () => {
    const folder = temporaryFolder("witness-files");
    const [keyFile, stateFile] = [join(folder, "key.pem"), join(folder, "state.json")];
    const files = { WITNESS_KEY_FILE: keyFile, WITNESS_STATE_FILE: stateFile };
    const env = { ...process.env, ...environment, ...files };
    const start = () => {
      const { exitCode, stdout } = Bun.spawnSync(["sh", "-c", ...init.args], { cwd: ROOT, env });
      return { exitCode, said: stdout.toString() };
    };
    expect(readNoteKey(start().said.trim())?.name).toBe(data.name);
    const key = readFileSync(keyFile, "utf8");
    expect(start()).toEqual({ exitCode: 0, said: "" });
    rmSync(stateFile);
    expect(start()).toEqual({ exitCode: 0, said: "" });
    expect(readFileSync(keyFile, "utf8")).toBe(key);
    expect(existsSync(stateFile)).toBe(false);
  });
});

// OP-90
test("a witness can read the logs file of witnesses.md", async () => {
  const blocks = await blocksOf(".github/guides/witnesses.md");
  const { text = "" } = blocks.find(({ language }) => language === "yaml") ?? {};
  expect(logsIn(text)).toEqual(["audit.example.com/log"]);
});
