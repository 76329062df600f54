import { notFound, validationError } from "@ostiary/lib/domain/errors";
import { leafText } from "@ostiary/lib/domain/proof";
import { readTile, TILE_WIDTH, type Tile, tilePath } from "@ostiary/lib/domain/tlog";
import { describeOperations } from "@ostiary/lib/openapi";
import {
  compressedRepresentationOf,
  errors,
  IMMUTABLE,
  noQuery,
  representationOf,
  respondWith,
} from "@ostiary/lib/runtime/http";
import type { Database, Orm } from "@ostiary/lib/runtime/stores/database";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { leafOf, selectLeafRange, selectSubtrees, selectTree, sizeOf } from "./tree-sql.ts";

const BYTES_TYPE = "application/octet-stream";
const INDEX_FORM =
  "groups of three digits, each but the last with an x before it, such as 067, x001/067 or 067.p/12";

const TILE = "Read a tile of the log's tree, by";
const TILE_TEXT = `The tile has 256 hashes of 32 bytes (C2SP tlog-tiles). A tile of \`entries\` has the texts of 256 leaves, each preceded by its length in two bytes. Tiles never change. The index is ${INDEX_FORM}.`;

const operations = describeOperations({
  getAuditLogRoot: [
    "Read the signed root of the log",
    "A signed note (C2SP tlog-checkpoint) over the name of the log, the number of leaves and the root of their tree. The response is 404 if the log has no signing key.",
  ],
  getAuditLogKey: [
    "Read the keys of the log",
    "The verifier keys that sign the roots of the log, in the form name+hash+key, one on each line. The response is 404 if the log has no signing key.",
  ],
  getAuditLogTile: [`${TILE} one part`, TILE_TEXT],
  getAuditLogTileOfTwo: [`${TILE} two parts`, TILE_TEXT],
  getAuditLogTileOfThree: [`${TILE} three parts`, TILE_TEXT],
  getAuditLogTileOfFour: [`${TILE} four parts`, TILE_TEXT],
});

/** The operations for tiles whose index has one part, two parts, and so on. */
const { getAuditLogRoot, getAuditLogKey, ...tileOperations } = operations;

const responseOf = (description: string, type: string, schema: { description: string; format?: string }) => ({
  200: { description, content: { [type]: { schema: { type: "string" as const, ...schema } } } },
});
const rootResponse = responseOf("The newest signed root.", "text/plain", { description: "A signed note." });
const keyResponse = responseOf("The verifier keys.", "text/plain", { description: "Verifier keys." });
const tileResponse = responseOf("The tile.", BYTES_TYPE, { format: "binary", description: "The bytes." });

/** The Cache-Control of the signed root. The root changes with each pass of the sealer. */
const SHORT = "public, max-age=2";
const TEXT = "text/plain; charset=utf-8";
const PARTS = ["first", "second", "third", "fourth"];
const LEVELS_OF_TILE = 8;
const LENGTH_BYTES = 2;

const keyless = { code: "NOT_FOUND", details: { resource: "audit_log_key", id: null } } as const;
const unsigned = { code: "NOT_FOUND", details: { resource: "audit_log_root", id: null } } as const;

const level = Type.String({
  description: "The level of the tile, from 0 to 63, or `entries` for the leaves themselves.",
  examples: ["0"],
  pattern: "^(?:entries|0|[1-9][0-9]?)$",
  rule: "must be a number from 0 to 63, or the word entries",
});
const part = (which: string) =>
  Type.String({
    description: `The ${which} part of the index of the tile.`,
    examples: ["067"],
    pattern: "^(?:x?[0-9]{3}|[0-9]{3}\\.p|[1-9][0-9]{0,2})$",
    rule: `must be a part of the index of a tile: ${INDEX_FORM}`,
  });

/** The signed log, as anyone may read it. */
export interface PublishedLog {
  database: Database;
  /** The verifier keys of the log. Without a key, nothing is served. */
  keys: readonly string[];
  /** Returns the signed root to publish; null if none is signed yet. */
  selectRoot: () => Promise<string | null>;
}

/** Serves the tree in the format of C2SP tlog-tiles (AU-152, AU-153). Anyone may keep copies of the tree. */
export function logHandlers({ database, keys, selectRoot }: PublishedLog) {
  const isSigned = keys.length > 0;
  const routes = new Elysia({
    name: "audit-log",
    prefix: "/audit-log",
    normalize: false,
    tags: ["Proof"],
  })
    .get(
      "/checkpoint",
      async ({ request }) => {
        const note = isSigned ? await selectRoot() : null;
        if (note === null) throw notFound("audit_log_root");
        return respondWith(request, await representationOf(note, TEXT), SHORT);
      },
      {
        query: noQuery,
        response: errors(unsigned),
        detail: { ...getAuditLogRoot, responses: rootResponse },
      },
    )
    .get(
      "/key",
      async ({ request }) => {
        if (!isSigned) throw notFound("audit_log_key");
        const text = keys.map((key) => `${key}\n`).join("");
        return respondWith(request, await representationOf(text, TEXT), SHORT);
      },
      { query: noQuery, response: errors(keyless), detail: { ...getAuditLogKey, responses: keyResponse } },
    );
  for (const [index, operation] of Object.values(tileOperations).entries()) {
    const names = PARTS.slice(0, index + 1);
    routes.get(
      `/tile/:level/${names.map((name) => `:${name}`).join("/")}`,
      async ({ request, params }: { request: Request; params: Record<string, string> }) => {
        const tile = readTile(params.level ?? "", names.map((name) => params[name]).join("/"));
        if (tile === null)
          throw validationError([{ path: "first", message: `The index of a tile is ${INDEX_FORM}.` }]);
        const bytes = isSigned ? await database.run("select_tile", (orm) => tileBytes(orm, tile)) : null;
        if (bytes === null) throw notFound("audit_log_tile", tilePath(tile));
        // compression does not make hashes smaller
        const represent = tile.level === "entries" ? compressedRepresentationOf : representationOf;
        return respondWith(request, await represent(bytes, BYTES_TYPE), IMMUTABLE);
      },
      {
        params: Type.Object({ level, ...Object.fromEntries(names.map((name) => [name, part(name)])) }),
        query: noQuery,
        response: errors("NOT_FOUND"),
        detail: { ...operation, responses: tileResponse },
      },
    );
  }
  return routes;
}

/** Returns the bytes of a tile, or null if the signed tree does not have the whole tile yet. */
async function tileBytes(orm: Orm, tile: Tile): Promise<Uint8Array<ArrayBuffer> | null> {
  const { level, index, width } = tile;
  const { note, before } = await selectTree(orm);
  const start = index * TILE_WIDTH;
  const leaves = (start + width) * TILE_WIDTH ** (level === "entries" ? 0 : level);
  if (leaves > sizeOf(note)) return null;
  const items: (Uint8Array | null)[] =
    level === "entries"
      ? (await selectLeafRange(orm, before + start + 1, before + start + width)).map((leaf) =>
          withLength(leafText(leafOf(leaf, before))),
        )
      : await selectSubtrees(
          orm,
          before,
          Array.from({ length: width }, (_, at) => ({ level: level * LEVELS_OF_TILE, index: start + at })),
        );
  const found = items.filter((item) => item !== null);
  return found.length === width ? new Uint8Array(Buffer.concat(found)) : null;
}

/** Returns a text after its length in two bytes. */
function withLength(text: string): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(Buffer.byteLength(text));
  return Buffer.concat([length, Buffer.from(text)]);
}
