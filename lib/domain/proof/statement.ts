import { type Static, Type } from "@sinclair/typebox";
import { nullable } from "../schemas/index.ts";
import { usageSums } from "../usage/index.ts";
import { canonicalJson } from "./canonical-json.ts";
import { MONTH_PATTERN } from "./retention.ts";

/** The pattern of a statement's id: its month, and its number among the statements of the month. */
export const STATEMENT_ID_PATTERN = "^20[0-9]{2}-(0[1-9]|1[0-2])\\.[1-9][0-9]{0,8}$";

const id = (description: string) =>
  Type.String({ pattern: STATEMENT_ID_PATTERN, description, examples: ["2026-01.1"] });
const time = (description: string, example: string) =>
  Type.String({
    description: `${description} RFC 3339, UTC, milliseconds.`,
    examples: [example],
    openapi: { format: "date-time" },
  });

/** The sums of one service within a statement. */
const ServiceSums = Type.Object(
  { service: Type.String({ description: "The service.", examples: ["widgets"] }), ...usageSums },
  { additionalProperties: false, title: "Stated service", description: "The sums of one service." },
);

/** The sums of one policy within a statement. A request counts for each policy of its route. */
const PolicySums = Type.Object(
  {
    policy: Type.String({ description: "The name of the rate-limit policy.", examples: ["burst"] }),
    service: nullable(Type.String({ description: "The service of the policy.", examples: ["widgets"] }), {
      description: "The service of the policy, or null for a shared policy.",
    }),
    ...usageSums,
  },
  { additionalProperties: false, title: "Stated policy", description: "The sums of one policy." },
);

/**
 * A statement in an organization's chain: the usage of the organization in a month. The statement is itself
 * an entry, with a position and a salt, and checkpoints sign it like any other entry. A correction is a
 * statement that names an earlier statement.
 */
export const Statement = Type.Object(
  {
    id: id("The month, and the number of the statement within the month."),
    month: Type.String({ pattern: MONTH_PATTERN, description: "The month in UTC.", examples: ["2026-01"] }),
    from: time("The start of the month.", "2026-01-01T00:00:00.000Z"),
    to: time("The end of the month, exclusive.", "2026-02-01T00:00:00.000Z"),
    stated_at: time("The time when the statement was made.", "2026-02-02T00:00:00.000Z"),
    corrects: nullable(id("The id of the statement that this statement replaces."), {
      description:
        "The id of the statement that this statement replaces, or null for the first statement of a month.",
      examples: [null, "2026-01.1"],
    }),
    ...usageSums,
    services: Type.Array(ServiceSums, {
      description: "The sums by service, sorted by name.",
    }),
    policies: Type.Array(PolicySums, {
      description: "The sums by rate-limit policy: a request counts for each policy of its route.",
    }),
  },
  { additionalProperties: false },
);
export type Statement = Static<typeof Statement>;

/** Returns the text of a statement's entry, with the salt in hexadecimal. */
export function statementEntry(owner: string, statement: Statement, salt: string): string {
  return canonicalJson({ ...statement, kind: "statement", owner, salt });
}
