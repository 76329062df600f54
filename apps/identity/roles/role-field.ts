import { Type } from "@sinclair/typebox";
import type { Roles } from "./roles.ts";

/** Matches no text in any dialect. */
const NOTHING = "^[^\\s\\S]$";

/** The optional `role` of a request body: one of the file's slugs; while roles are off no value will do. */
export function roleField(roles: Roles, description: string) {
  if (roles.file === null) {
    return Type.Optional(
      Type.String({
        pattern: NOTHING,
        description: "Roles are off: leave it out.",
        rule: "must be left out, since this deployment has no roles",
      }),
    );
  }
  return Type.Optional(
    Type.String({
      description: `A slug of the roles file. ${description}`,
      enum: [...roles.slugs],
      pattern: `^(?:${roles.slugs.map((slug) => slug.replaceAll(".", "\\.")).join("|")})$`,
      rule: `must be one of ${roles.slugs.join(", ")}`,
    }),
  );
}
