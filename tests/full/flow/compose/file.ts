import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parse } from "yaml";
import { ROOT } from "../../../support/root.ts";

const Compose = Type.Object({
  services: Type.Record(
    Type.String(),
    Type.Object({
      image: Type.String(),
      user: Type.Optional(Type.String()),
      restart: Type.Optional(Type.String()),
      command: Type.Optional(Type.Array(Type.String())),
      entrypoint: Type.Optional(Type.Array(Type.String())),
      environment: Type.Optional(Type.Record(Type.String(), Type.String())),
      secrets: Type.Optional(Type.Array(Type.String())),
      ports: Type.Optional(Type.Array(Type.String())),
      profiles: Type.Optional(Type.Array(Type.String())),
      read_only: Type.Optional(Type.Boolean()),
      cap_drop: Type.Optional(Type.Array(Type.String())),
      security_opt: Type.Optional(Type.Array(Type.String())),
      mem_limit: Type.Optional(Type.String()),
      pids_limit: Type.Optional(Type.Integer()),
      stop_grace_period: Type.Optional(Type.String({ pattern: "^\\d+s$" })),
      healthcheck: Type.Optional(Type.Object({ test: Type.Optional(Type.Array(Type.String())) })),
      volumes: Type.Optional(Type.Array(Type.String())),
      build: Type.Optional(Type.Object({ secrets: Type.Optional(Type.Array(Type.String())) })),
      depends_on: Type.Optional(
        Type.Record(
          Type.String(),
          Type.Object({ condition: Type.String(), required: Type.Optional(Type.Boolean()) }),
        ),
      ),
    }),
  ),
  secrets: Type.Record(Type.String(), Type.Object({ file: Type.String() })),
  networks: Type.Record(Type.String(), Type.Unknown()),
});

/** Returns the content of a compose file. YAML anchors are resolved, and `${VARIABLE}` references are not replaced. */
async function composeFile(name: string) {
  return Value.Parse(Compose, parse(await Bun.file(join(ROOT, name)).text(), { merge: true }));
}

export const compose = await composeFile("compose.yaml");
export const oneProcess = await composeFile("compose.one-process.yaml");

/** The containers that run a service of Ostiary, with the name of the service. */
export const PARTS = {
  identity: "identity",
  audit: "audit",
  registry: "registry",
  "gateway-1": "gateway",
  "gateway-2": "gateway",
} as const;

export function service(name: string, { services } = compose) {
  const found = services[name];
  if (found === undefined) throw new Error(`The compose file has no service ${name}.`);
  return found;
}

/**
 * Replaces each `${VARIABLE:-default}` as compose does: with the value from `settings`, or else the default.
 *
 * @throws Error when a required variable is not set
 */
export function interpolated(text: string, settings: ReadonlyMap<string, string> = new Map()): string {
  return text.replace(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name, kind, otherwise) => {
    const set = settings.get(name);
    if (set === undefined && kind === "?") throw new Error(`${name} must be set: ${otherwise}`);
    return set ?? otherwise;
  });
}
