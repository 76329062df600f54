import { type FieldError, fieldErrors } from "@ostiary/lib/domain/errors";
import { monthOf, monthStart } from "@ostiary/lib/domain/proof";
import { parseTime } from "@ostiary/lib/domain/schemas";
import { booleanParameter, listQueryProperties, repeatedParameters } from "@ostiary/lib/runtime/http";
import { type Static, Type } from "@sinclair/typebox";
import { logProblems, timeParameter, writtenId } from "../events/event-parameters.ts";
import { unstorable } from "../field-problems.ts";
import { DIVISIONS, HOUR_MS, type UsageRange } from "./usage-columns.ts";

const RANGE_DAYS_MAX = 366;
const CURSOR_LENGTH_MAX = 2_048;

/** The query parameters of a read of usage (AU-124 to AU-126). */
export const usageQuery = Type.Object(
  {
    from: timeParameter(
      "Hours that begin at or after this time, RFC 3339. By default the current month in UTC.",
    ),
    to: timeParameter("Hours that begin before this time, RFC 3339. By default the end of the current hour."),
    by: Type.Optional(
      Type.Union(
        DIVISIONS.map((division) => Type.Literal(division)),
        {
          description: "The property that groups the usage.",
          rule: `must be one of ${DIVISIONS.join(", ")}`,
          openapi: { type: "string", enum: [...DIVISIONS], default: "day", anyOf: undefined },
        },
      ),
    ),
    include_platform: booleanParameter(
      "`true`: also requests of Ostiary's own services, such as those of the portal.",
    ),
    limit: listQueryProperties().limit,
    starting_after: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: CURSOR_LENGTH_MAX,
        description: "The `id` of the last item of the previous page (exclusive).",
        examples: ["2026-01-31T00:00:00.000Z"],
      }),
    ),
  },
  { additionalProperties: false },
);
export type UsageQuery = Static<typeof usageQuery>;

export const usageParams = Type.Object({
  organization_id: writtenId("The organization whose usage is read."),
});

export function rangeOf({ from, to }: Pick<UsageQuery, "from" | "to">, nowMs: number): UsageRange {
  const toMs = to === undefined ? null : (parseTime(to)?.epochMilliseconds ?? null);
  const fromMs = from === undefined ? null : (parseTime(from)?.epochMilliseconds ?? null);
  return {
    fromMs: fromMs ?? monthStart(monthOf(nowMs)),
    toMs: toMs ?? (Math.floor(nowMs / HOUR_MS) + 1) * HOUR_MS,
  };
}

/**
 * Returns the id after which a page of a valid query begins. A time is in UTC, because PostgreSQL reads smaller
 * offsets than RFC 3339 allows.
 */
export function cursorOf({ by = "day", starting_after }: UsageQuery): string | null {
  if (starting_after === undefined) return null;
  return hasTimeIds(by) ? (parseTime(starting_after)?.toString() ?? null) : starting_after;
}

function hasTimeIds(by: UsageQuery["by"]): boolean {
  return by === "day" || by === "hour";
}

export function usageProblems(request: Request, id: string, query: UsageQuery, nowMs: number): FieldError[] {
  const { fromMs, toMs } = rangeOf(query, nowMs);
  const { by = "day", starting_after } = query;
  const isLong = toMs - fromMs > RANGE_DAYS_MAX * 24 * HOUR_MS;
  const isMisplaced = hasTimeIds(by) && starting_after !== undefined && parseTime(starting_after) === null;
  return [
    ...logProblems({ kind: "organization", id }),
    ...repeatedParameters(request.url),
    ...fieldErrors(usageQuery, query),
    ...unstorable({ starting_after }),
    ...(isLong ? [{ path: "from", message: `from must be at most ${RANGE_DAYS_MAX} days before to.` }] : []),
    ...(isMisplaced
      ? [
          {
            path: "starting_after",
            message: `starting_after must be the id of an item of the previous page; with by=${by} it is a time.`,
          },
        ]
      : []),
  ];
}
