import { flag, listenVariables, optionalText, text, textOr } from "@ostiary/lib/config";
import { type Static, Type } from "@sinclair/typebox";

/** The variables of the identity service (contract 1 and 4; Identity specification, Roles file). */
export const identityVariables = Type.Object({
  ...listenVariables({ host: "0.0.0.0", port: 3000, internal_port: 3001 }),
  DATABASE_URL: text("must be a postgres:// URL, pglite:///directory or pglite://memory", {
    pattern: "^(postgres(ql)?://|pglite:///|pglite://memory$)",
  }),
  APIKEY_BRAND: textOr(
    "ostiary",
    "must be at most 32 lower-case letters and digits, a letter first; leave it unset for the default",
    {
      pattern: "^[a-z][a-z0-9]{0,31}$",
      refuseEmpty: true,
      description: "The first part of every API key and session. Changing it makes older ones invalid.",
    },
  ),
  ROLES_FILE: optionalText("must be the path of a roles file", {
    description: "Read at boot only. Unset turns roles off.",
  }),
  INTERNAL_AUTH_TOKEN: optionalText("must be the token that callers of the internal endpoints send"),
  SWAGGER_ENABLED: flag(true, "false takes the Swagger page and its document away."),
});

export type IdentityConfig = Readonly<Static<typeof identityVariables>>;
