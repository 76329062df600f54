import { type Static, Type } from "@sinclair/typebox";
import { nullable, textField } from "../../domain/schemas/index.ts";
import { shapeOf } from "./fields.ts";

const slug = (description: string) =>
  nullable(textField(`${description} Null if identity has no ROLES_FILE.`, "owner"));

/** The roles of the deployment (ID-75). */
export const RolesListing = Type.Object(
  {
    roles: Type.Array(
      Type.Object(
        {
          slug: textField("The role's name.", "admin"),
          labels: Type.Array(textField("A label.", "org:write"), {
            description: "The labels that the role grants; `*` alone grants every label.",
            examples: [["org:write", "org:members:write"]],
          }),
        },
        shapeOf("Role", "A role of the roles file."),
      ),
      { description: "The roles, sorted by slug." },
    ),
    creator_role: slug("The role of a person who creates an organization."),
    default_role: slug("The role of a new member if the request names no role."),
    service_account_default_role: slug("The role of a new service account if the request names no role."),
  },
  shapeOf("Role list", "The roles of this deployment."),
);
export type RolesListing = Static<typeof RolesListing>;
