import { Type } from "@sinclair/typebox";
import { PLAN_NAME_LENGTH_MAX } from "./maximum-sizes.ts";

export const PlanName = Type.String({
  pattern: `^[a-z0-9:._-]{1,${PLAN_NAME_LENGTH_MAX}}$`,
  minLength: 1,
  maxLength: PLAN_NAME_LENGTH_MAX,
  rule: `must be 1 to ${PLAN_NAME_LENGTH_MAX} lower-case letters, digits, \`:\`, \`.\`, \`_\` and \`-\``,
  title: "PlanName",
  description: "The name of a plan, for limits that differ by plan.",
  examples: ["pro"],
});
