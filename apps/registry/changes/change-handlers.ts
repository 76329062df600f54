import { type RecordedChange, RecordedChanges } from "@ostiary/lib/contracts/registry-api";
import { parseTime, RFC_3339_TIME, TIME_RULE } from "@ostiary/lib/domain/schemas";
import { LIMIT_MAX, listQueryProperties, page, pageRequest } from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { operatorErrors } from "../documented-errors.ts";
import { type ChangeFilter, type ChangePlace, selectChanges } from "./change-sql.ts";

const time = (description: string) =>
  Type.Optional(
    Type.String({
      format: RFC_3339_TIME,
      description,
      rule: `${TIME_RULE}; write + as %2B`,
      openapi: { format: "date-time", examples: ["2026-01-31T12:00:00Z"] },
    }),
  );
const text = (description: string, example: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      pattern: "^[\\x21-\\x7e]+$",
      description,
      rule: "must be a name of 1 to 128 characters",
      openapi: { examples: [example] },
    }),
  );

const query = Type.Object(
  {
    service: text("Only changes of this service.", "widgets"),
    operator: text("Only changes by this operator.", "team-widgets"),
    created_after: time("Only changes after this time (exclusive)."),
    created_before: time("Only changes before this time (exclusive)."),
    starting_after: Type.Optional(
      Type.String({
        pattern: "^[A-Za-z0-9._-]{1,128}:[1-9][0-9]{0,8}$",
        description: "The service and revision of the last change of the previous page (exclusive).",
        rule: "must be service:revision of the last change of the previous page, such as widgets:3",
        openapi: { examples: ["widgets:3"] },
      }),
    ),
    limit: listQueryProperties().limit,
  },
  { additionalProperties: false },
);
type Filters = Static<typeof query>;

/** Serves the writes of all services (RG-120). */
export function changeHandlers(database: Database) {
  const read = (filter: ChangeFilter, after: ChangePlace | null, count: number) =>
    database.run("select_changes", async (orm) =>
      (await selectChanges(orm, filter, { after, count })).map(showChange),
    );
  return new Elysia({ name: "changes", normalize: false, tags: ["Changes"] }).get(
    "/changes",
    async ({ query }) => {
      const { limit } = pageRequest({ limit: query.limit }, LIMIT_MAX);
      const { items, has_more } = page(await read(filterOf(query), placeIn(query), limit + 1), limit);
      return { changes: items, has_more };
    },
    {
      query,
      response: { 200: RecordedChanges, ...operatorErrors() },
      detail: {
        operationId: "listChanges",
        summary: "List the writes of all services",
        description:
          "Newest first, with the operator, reason and link of each write. Filters combine with AND.",
      },
    },
  );
}

function showChange({
  created_at,
  ...change
}: Awaited<ReturnType<typeof selectChanges>>[number]): RecordedChange {
  return { ...change, created_at: created_at.toISOString() };
}

function filterOf({ service, operator, created_after, created_before }: Filters): ChangeFilter {
  const instant = (given: string | undefined) =>
    given === undefined ? undefined : parseTime(given)?.toString();
  return {
    service,
    operator,
    created_after: instant(created_after),
    created_before: instant(created_before),
  };
}

function placeIn({ starting_after }: Filters): ChangePlace | null {
  if (starting_after === undefined) return null;
  const colon = starting_after.lastIndexOf(":");
  return { service: starting_after.slice(0, colon), revision: Number(starting_after.slice(colon + 1)) };
}
