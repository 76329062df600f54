import { type Static, Type } from "@sinclair/typebox";
import { PlanName } from "../../domain/routes/name-schemas.ts";
import { idField, nullable, textField } from "../../domain/schemas/index.ts";
import { created_at, shapeOf, updated_at } from "./fields.ts";

/** A tenant (ID-23). Data of one organization is never visible to another. */
export const Organization = Type.Object(
  {
    id: idField("The organization_id."),
    name: textField("The organization's name.", "Analytical Engines"),
    plan: nullable(PlanName, { description: "The plan of the organization, or null without a plan." }),
    created_at,
    updated_at,
  },
  shapeOf("Organization", "A tenant. No other organization can access its data."),
);
export type Organization = Static<typeof Organization>;
