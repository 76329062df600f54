import { type TSchema, Type } from "@sinclair/typebox";
import { incrementBase32, ulid } from "ulid";
import { type ApiError, validationError } from "../../domain/errors/index.ts";
import { idField, ULID_PATTERN } from "../../domain/schemas/index.ts";

const LIMIT_DEFAULT = 50;
export const LIMIT_MAX = 100;

/** A request for one page of a collection (ID-11, ID-12). */
export interface PageRequest {
  limit: number;
  /** The last id of the previous page, or null. */
  starting_after: string | null;
}

/** The values are texts; {@link pageRequest} converts them. */
export function listQueryProperties(limitMax = LIMIT_MAX) {
  return {
    limit: Type.Optional(
      Type.String({
        description: `The number of items in a page: ${LIMIT_DEFAULT} by default, at most ${limitMax}. Larger values count as ${limitMax}.`,
        pattern: "^0*[1-9][0-9]*$",
        rule: `must be a whole number of at least 1; values above ${limitMax} count as ${limitMax}`,
        openapi: {
          type: "integer",
          minimum: 1,
          default: LIMIT_DEFAULT,
          examples: [LIMIT_DEFAULT],
        },
      }),
    ),
    starting_after: Type.Optional({
      ...idField("The id of the last item of the previous page. The page begins after that item."),
      pattern: ULID_PATTERN,
      rule: "must be the id (a ULID) of the last item of the previous page",
    }),
  };
}

const WAIT_MS_MAX = 30_000;

/** Returns the schema of the query parameter `wait_ms`. `openapi` is added to the keywords of its description. */
export function waitParameter(description: string, openapi: { default?: number } = {}) {
  return Type.Optional(
    Type.String({
      pattern: "^([0-9]|[1-9][0-9]{1,3}|[12][0-9]{4}|30000)$",
      description,
      rule: `must be a whole number from 0 to ${WAIT_MS_MAX}`,
      openapi: { type: "integer", minimum: 0, maximum: WAIT_MS_MAX, ...openapi },
    }),
  );
}

export function booleanParameter(description: string) {
  return Type.Optional(
    Type.Union([Type.Literal("true"), Type.Literal("false")], {
      description,
      rule: "must be true or false",
      openapi: { type: "boolean", default: false },
    }),
  );
}

export const listQuery = Type.Object(listQueryProperties(), { additionalProperties: false });

export const FEED_LIMIT_MAX = 500;
export const feedQuery = Type.Object(listQueryProperties(FEED_LIMIT_MAX), { additionalProperties: false });

export function unknownFeedCursor(): ApiError {
  return validationError([
    { path: "starting_after", message: "starting_after must be the id of an event of this feed." },
  ]);
}

/** Converts the query parameters of a list, and applies the defaults. */
export function pageRequest(
  { limit, starting_after }: { limit?: string; starting_after?: string },
  limitMax = LIMIT_MAX,
): PageRequest {
  return {
    limit: limit === undefined ? LIMIT_DEFAULT : Math.min(Number(limit), limitMax),
    starting_after: starting_after ?? null,
  };
}

/** The items under the plural name of the collection, and `has_more`. */
export function pageSchema<Name extends string, Item extends TSchema>(name: Name, item: Item) {
  const items = Type.Array(item, { description: "The items of this page." });
  return Type.Composite(
    [
      Type.Record(Type.Literal(name), items),
      Type.Object({ has_more: Type.Boolean({ description: "Whether another page follows." }) }),
    ],
    { title: `${item.title} list`, additionalProperties: false, description: "A page of a list." },
  );
}

/** The query must read `limit + 1` rows: the additional row shows that another page follows. */
export function page<Item>(rows: readonly Item[], limit: number): { items: Item[]; has_more: boolean } {
  return { items: rows.slice(0, limit), has_more: rows.length > limit };
}

/** Returns ids above `last`, the newest id of a feed. They contain the later of `timeMs` and the time in `last`. */
export function followingIds(last: string | null, timeMs: number, count: number): string[] {
  const fresh = ulid(timeMs);
  let next = last === null || fresh > last ? fresh : incrementBase32(last);
  return Array.from({ length: count }, () => {
    const id = next;
    next = incrementBase32(next);
    return id;
  });
}
