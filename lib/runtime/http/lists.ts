import { type TSchema, Type } from "@sinclair/typebox";
import { idField, ULID_PATTERN } from "../../domain/schemas/index.ts";

const LIMIT_DEFAULT = 50;
export const LIMIT_MAX = 100;

/** One page of a collection (Identity specification, List conventions). */
export interface PageRequest {
  /** 1 to 100, larger ones clamped. */
  limit: number;
  /** The last id of the page before; null for the first page. */
  starting_after: string | null;
}

/** The properties of a list's query, as text; {@link pageRequest} reads them. */
export function listQueryProperties(limit_max = LIMIT_MAX) {
  return {
    limit: Type.Optional(
      Type.String({
        description: `Items in a page: default ${LIMIT_DEFAULT}, at most ${limit_max}; larger values are clamped.`,
        pattern: "^0*[1-9][0-9]*$",
        rule: `must be a whole number of at least 1; above ${limit_max} it is taken as ${limit_max}`,
        openapi: {
          type: "integer",
          minimum: 1,
          default: LIMIT_DEFAULT,
          examples: [LIMIT_DEFAULT],
        },
      }),
    ),
    starting_after: Type.Optional({
      ...idField("The last id of the previous page (exclusive)."),
      pattern: ULID_PATTERN,
      rule: "must be the id (a ULID) of the last item of the previous page",
    }),
  };
}

export const listQuery = Type.Object(listQueryProperties(), { additionalProperties: false });

/** The page that a query asks for, with what it leaves out. */
export function pageRequest(
  { limit, starting_after }: { limit?: string; starting_after?: string },
  limit_max = LIMIT_MAX,
): PageRequest {
  return {
    limit: limit === undefined ? LIMIT_DEFAULT : Math.min(Number(limit), limit_max),
    starting_after: starting_after ?? null,
  };
}

/** Shape of a list's body: the collection under its plural name, and `has_more`. */
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

/** Cuts rows read with `limit + 1` to a page. */
export function page<Item>(rows: readonly Item[], limit: number): { items: Item[]; has_more: boolean } {
  return { items: rows.slice(0, limit), has_more: rows.length > limit };
}
