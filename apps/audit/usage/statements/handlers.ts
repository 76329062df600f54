import { type FieldError, fieldErrors } from "@ostiary/lib/domain/errors";
import { MONTH_PATTERN, STATEMENT_ID_PATTERN, Statement } from "@ostiary/lib/domain/proof";
import {
  errors,
  listQueryProperties,
  page,
  pageRequest,
  pageSchema,
  repeatedParameters,
} from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { logProblems } from "../../events/parameters.ts";
import { refuse } from "../../field-problems.ts";
import { operations } from "../operation-texts.ts";
import { usageParams } from "../parameters.ts";
import { type StatementRow, selectStatements } from "./sql.ts";

/** A statement as the API returns it: the fields of its entry, with its position in the chain. */
const UsageStatement = Type.Object(
  {
    ...Statement.properties,
    corrected_by: Type.Union([Type.String(), Type.Null()], {
      description:
        "The id of the newest statement of the month. Null if this statement is the newest statement.",
      examples: [null, "2026-01.2"],
    }),
    position: Type.Integer({
      minimum: 1,
      description: "The position of the statement in the proof of the organization's log.",
      examples: [4711],
    }),
  },
  {
    additionalProperties: false,
    title: "Usage statement",
    description: "The usage of an organization in a month, as it was sealed in the organization's log.",
  },
);

const statementsQuery = Type.Object(
  {
    month: Type.Optional(
      Type.String({
        pattern: MONTH_PATTERN,
        rule: "must be a month such as 2026-01",
        description: "Only the statements of this month in UTC.",
        examples: ["2026-01"],
      }),
    ),
    limit: listQueryProperties().limit,
    starting_after: Type.Optional(
      Type.String({
        pattern: STATEMENT_ID_PATTERN,
        rule: "must be the id of a statement, such as 2026-01.1",
        description: "The `id` of the last statement of the previous page (exclusive).",
        examples: ["2026-01.1"],
      }),
    ),
  },
  { additionalProperties: false },
);
type StatementsQuery = Static<typeof statementsQuery>;

function statementProblems({ url }: Request, id: string, query: StatementsQuery): FieldError[] {
  return [
    ...logProblems({ kind: "organization", id }),
    ...repeatedParameters(url),
    ...fieldErrors(statementsQuery, query),
  ];
}

function shown({ position, statement, stated }: StatementRow): Static<typeof UsageStatement> {
  const newest = `${statement.month}.${stated}`;
  return { ...statement, corrected_by: newest === statement.id ? null : newest, position };
}

/** Serves the statements of an organization (AU-134). */
export function statementHandlers(database: Database) {
  return new Elysia({ name: "audit-usage-statements", normalize: false }).get(
    "/organizations/:organization_id/usage/statements",
    async ({ params: { organization_id }, query }) => {
      const { limit, starting_after } = pageRequest(query);
      const request = { organization_id, month: query.month ?? null, starting_after };
      const { items, has_more } = page(await selectStatements(database, request, limit + 1), limit);
      return { usage_statements: items.map(shown), has_more };
    },
    {
      transform: ({ request, params, query }) =>
        refuse(statementProblems(request, params.organization_id, query)),
      params: usageParams,
      query: statementsQuery,
      response: {
        200: { ...pageSchema("usage_statements", UsageStatement), response_description: "A page." },
        ...errors(),
      },
      detail: operations.listUsageStatements,
    },
  );
}
