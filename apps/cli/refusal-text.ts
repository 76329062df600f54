import { NearestRoute } from "@ostiary/lib/contracts/registry-api";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Refused } from "./errors.ts";

const Fields = Type.Object({
  fields: Type.Array(Type.Object({ path: Type.String(), message: Type.String() })),
});
const Conflicts = Type.Object({
  conflicts: Type.Array(
    Type.Object({
      service: Type.String(),
      method: Type.String(),
      path: Type.String(),
      owner: Type.String(),
      owner_path: Type.String(),
    }),
  ),
});
const Nearest = Type.Object({ nearest: Type.Array(NearestRoute) });
const Missing = Type.Object({ resource: Type.String(), id: Type.String() });
const TooLarge = Type.Object({ max_size_bytes: Type.Integer() });
const Current = Type.Object({ current_revision: Type.Union([Type.Integer(), Type.Null()]) });

/** Why the registry refused, one line for each thing that is wrong: by the details, where they say more than the message. */
export function refusalText({ message, envelope }: Refused): string {
  const details = envelope?.error.details ?? null;
  if (Value.Check(Fields, details)) {
    return refusedFor(
      details.fields.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)),
    );
  }
  if (Value.Check(Conflicts, details)) {
    return refusedFor(
      details.conflicts.map(({ service, method, path, owner, owner_path }) => {
        const as = path === owner_path ? "" : `, as ${owner_path}`;
        return `${method} ${path} of ${service} belongs to ${owner}${as}`;
      }),
    );
  }
  if (Value.Check(Nearest, details)) {
    const routes = details.nearest.map(
      ({ method, path, service, scope }) => `${method} ${path} (${service}, ${scope})`,
    );
    return routes.length === 0 ? message : listed(`${message}\nThe nearest routes:`, routes);
  }
  if (Value.Check(Missing, details)) return `There is no ${details.resource} ${details.id}.`;
  if (Value.Check(TooLarge, details)) return `${message} It takes ${details.max_size_bytes} bytes.`;
  if (Value.Check(Current, details)) {
    return `${message} Its current revision is ${details.current_revision ?? "none"}.`;
  }
  return message;
}

function refusedFor(reasons: string[]): string {
  return listed("Refused, nothing was written:", reasons);
}

function listed(heading: string, lines: string[]): string {
  return [heading, ...lines.map((line) => `  ${line}`)].join("\n");
}
