import { NearestRoute } from "@ostiary/lib/contracts/registry-api";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Refused } from "./failures.ts";
import { printable, type Terminal } from "./terminal.ts";

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

/** Writes why the registry refused: what is wrong, one line each, or its answer as it is with `--json`. */
export function reportRefusal(refused: Refused, terminal: Terminal, json: boolean): void {
  if (json && refused.envelope !== null) {
    terminal.writeError(`${JSON.stringify(refused.envelope, null, 2)}\n`);
    return;
  }
  const details = linesOf(refused);
  const lines = details ?? [refused.message];
  terminal.writeError(`${lines.map((line) => printable(line)).join("\n")}\n`);
}

/** What the details say, in place of the message; null when they say no more than it. */
function linesOf({ message, envelope }: Refused): string[] | null {
  const details = envelope?.error.details ?? null;
  if (Value.Check(Fields, details)) {
    const lines = details.fields.map((field) =>
      field.path === "" ? field.message : `${field.path}: ${field.message}`,
    );
    return ["Refused, nothing was written:", ...lines.map((line) => `  ${line}`)];
  }
  if (Value.Check(Conflicts, details)) {
    const lines = details.conflicts.map(({ service, method, path, owner, owner_path }) => {
      const as = path === owner_path ? "" : `, as ${owner_path}`;
      return `  ${method} ${path} of ${service} belongs to ${owner}${as}`;
    });
    return ["Refused, nothing was written:", ...lines];
  }
  if (Value.Check(Nearest, details)) {
    const lines = details.nearest.map(
      ({ method, path, service, scope }) => `  ${method} ${path} (${service}, ${scope})`,
    );
    return [message, ...(lines.length > 0 ? ["The nearest routes:", ...lines] : [])];
  }
  if (Value.Check(Missing, details)) return [`There is no ${details.resource} ${details.id}.`];
  if (Value.Check(TooLarge, details)) return [`${message} It takes ${details.max_size_bytes} bytes.`];
  if (Value.Check(Current, details)) {
    const current = details.current_revision ?? "none";
    return [`${message} Its current revision is ${current}.`];
  }
  return null;
}
