import { NearestRoute } from "@ostiary/lib/contracts/registry-api";
import { FieldError, RouteConflict } from "@ostiary/lib/domain/errors";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Refused } from "./exit-codes.ts";
import { onOneLine, printable } from "./terminal.ts";

const Fields = Type.Object({ fields: Type.Array(FieldError) });
const Conflicts = Type.Object({ conflicts: Type.Array(RouteConflict) });
const Nearest = Type.Object({ nearest: Type.Array(NearestRoute) });
const Missing = Type.Object({ resource: Type.String(), id: Type.String() });
const TooLarge = Type.Object({ max_size_bytes: Type.Integer() });
const Current = Type.Object({ current_revision: Type.Union([Type.Integer(), Type.Null()]) });

/**
 * Returns the reasons of a refusal, one per line, for a terminal. The details of the error replace its message if they
 * say more.
 */
export function refusalText(refused: Refused): string {
  return printable(reasonsOf(refused));
}

function reasonsOf({ message, envelope, writing }: Refused): string {
  const details = envelope?.error.details ?? null;
  if (Value.Check(Fields, details)) {
    return refusedFor(details.fields.map(fieldText), writing);
  }
  if (Value.Check(Conflicts, details)) {
    return refusedFor(
      details.conflicts.map(({ service, method, path, owner, owner_path }) => {
        const as = path === owner_path ? "" : `, as ${owner_path}`;
        return `${method} ${path} of ${service} belongs to ${owner}${as}`;
      }),
      writing,
    );
  }
  if (Value.Check(Nearest, details)) {
    const routes = details.nearest.map(
      ({ method, path, service, scope }) => `${method} ${path} (${service}, ${scope})`,
    );
    return routes.length === 0 ? message : listed(`${message}\nThe nearest routes:`, routes);
  }
  if (Value.Check(Missing, details)) return onOneLine(`There is no ${details.resource} ${details.id}.`);
  if (Value.Check(TooLarge, details)) return `${message} The limit is ${details.max_size_bytes} bytes.`;
  if (Value.Check(Current, details)) {
    return `${message} Its current revision is ${details.current_revision ?? "none"}.`;
  }
  return message;
}

/** Returns the line for a wrong field. Many messages already start with the field's path. */
export function fieldText({ path, message }: { path: string; message: string }): string {
  return path === "" || message.startsWith(`${path} `) ? message : `${path}: ${message}`;
}

/** Lists the reasons. For a write, the heading says that nothing was written. */
function refusedFor(reasons: string[], writing: boolean): string {
  return listed(writing ? "Refused, nothing was written:" : "Refused:", reasons);
}

function listed(heading: string, lines: string[]): string {
  return [heading, ...lines.map((line) => `  ${onOneLine(line)}`)].join("\n");
}
