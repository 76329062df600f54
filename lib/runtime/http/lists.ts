import { type TSchema, Type } from "@sinclair/typebox";
import { type FieldError, validationError } from "../../domain/errors/index.ts";
import { idField, isUlid } from "../../domain/schemas/index.ts";

const LIMIT_DEFAULT = 50;
export const LIMIT_MAX = 100;

/** One page of a collection (Identity specification, List conventions). */
export interface PageRequest {
  /** 1 to 100, larger ones clamped. */
  limit: number;
  /** The last id of the page before; null for the first page. */
  starting_after: string | null;
}

/** The query of every list, as text; {@link pageRequest} reads it. */
export const listQueryProperties = {
  limit: Type.Optional(
    Type.String({
      description: `Items in a page: default ${LIMIT_DEFAULT}, at most ${LIMIT_MAX}; larger values are clamped.`,
      openapi: {
        type: "integer",
        minimum: 1,
        default: LIMIT_DEFAULT,
        examples: [LIMIT_DEFAULT],
      },
    }),
  ),
  starting_after: Type.Optional(idField("The last id of the previous page (exclusive).")),
};

export const listQuery = Type.Object(listQueryProperties, { additionalProperties: false });

/** Reads `limit` and `starting_after`; 422 names each that is malformed. */
export function pageRequest(
  query: { limit?: string; starting_after?: string },
  limitMax = LIMIT_MAX,
): PageRequest {
  const { page, fields } = readPage(query, limitMax);
  if (fields.length > 0) throw validationError(fields);
  return page;
}

/** {@link pageRequest} for a query with more in it: what is malformed is returned, to be told with the rest. */
export function readPage(
  query: { limit?: string; starting_after?: string },
  limitMax = LIMIT_MAX,
): { page: PageRequest; fields: FieldError[] } {
  const fields: FieldError[] = [];
  const limit = query.limit === undefined ? LIMIT_DEFAULT : readLimit(query.limit, limitMax);
  if (limit === null) {
    fields.push({
      path: "limit",
      message: `limit must be a whole number of at least 1; above ${limitMax} it is taken as ${limitMax}.`,
    });
  }
  if (query.starting_after !== undefined && !isUlid(query.starting_after)) {
    fields.push({
      path: "starting_after",
      message: "starting_after must be the id (a ULID) of the last item of the previous page.",
    });
  }
  return {
    page: { limit: limit ?? LIMIT_DEFAULT, starting_after: query.starting_after ?? null },
    fields,
  };
}

function readLimit(raw: string, limitMax: number): number | null {
  if (!/^\d+$/.test(raw)) return null;
  const limit = Math.min(Number(raw), limitMax);
  return limit >= 1 ? limit : null;
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
