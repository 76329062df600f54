import { notFound, validationError } from "@ostiary/lib/domain/errors";
import { readTile, TILE_WIDTH, type Tile, tilePath } from "@ostiary/lib/domain/tlog";
import {
  answerWith,
  compressedRepresentationOf,
  errors,
  IMMUTABLE,
  noQuery,
  representationOf,
} from "@ostiary/lib/runtime/http";
import type { Database } from "@ostiary/lib/runtime/stores/database";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import {
  BYTES_TYPE,
  INDEX_FORM,
  noteResponse,
  operations,
  tileOperations,
  tileResponse,
} from "./operation-texts.ts";
import { selectLeafTexts, selectSubtrees } from "./sql.ts";

/** The Cache-Control of the signed root. The root changes with each checkpoint. */
const SHORT = "public, max-age=2";
const NOTE_TYPE = "text/plain; charset=utf-8";
const PARTS = ["first", "second", "third", "fourth"];
const LEVELS_OF_TILE = 8;
const LENGTH_BYTES = 2;

const unsigned = { code: "NOT_FOUND", details: { resource: "audit_log_root", id: null } } as const;

const level = Type.String({
  description: "The level of the tile, from 0 to 63, or `entries` for the checkpoints themselves.",
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

/**
 * Serves the tree of checkpoints in the format of C2SP tlog-tiles (AU-152, AU-153). Anyone may keep copies of the
 * tree. `selectRoot` returns the signed root that readers get.
 */
export function checkpointTreeHandlers(database: Database, selectRoot: () => Promise<string | null>) {
  const routes = new Elysia({
    name: "audit-log",
    prefix: "/audit-log",
    normalize: false,
    tags: ["Proof"],
  }).get("/checkpoint", ({ request }) => answerWithNote(selectRoot, request), {
    query: noQuery,
    response: errors(unsigned),
    detail: { ...operations.getAuditLogRoot, responses: { 200: noteResponse } },
  });
  for (const [index, operation] of tileOperations.entries()) {
    const names = PARTS.slice(0, index + 1);
    routes.get(
      `/tile/:level/${names.map((name) => `:${name}`).join("/")}`,
      ({ request, params }: { request: Request; params: Record<string, string> }) =>
        answerWithTile(database, request, params.level ?? "", names.map((name) => params[name]).join("/")),
      {
        params: Type.Object({ level, ...Object.fromEntries(names.map((name) => [name, part(name)])) }),
        query: noQuery,
        response: errors("NOT_FOUND"),
        detail: { ...operation, responses: { 200: tileResponse } },
      },
    );
  }
  return routes;
}

async function answerWithNote(selectRoot: () => Promise<string | null>, request: Request): Promise<Response> {
  const note = await selectRoot();
  if (note === null) throw notFound("audit_log_root");
  return answerWith(request, await representationOf(note, NOTE_TYPE), SHORT);
}

async function answerWithTile(
  database: Database,
  request: Request,
  level: string,
  index: string,
): Promise<Response> {
  const tile = readTile(level, index);
  if (tile === null)
    throw validationError([{ path: "first", message: `The index of a tile is ${INDEX_FORM}.` }]);
  const bytes = await tileBytes(database, tile);
  if (bytes === null) throw notFound("audit_log_tile", tilePath(tile));
  // compression does not make hashes smaller
  const isText = tile.level === "entries";
  const body = await (isText ? compressedRepresentationOf : representationOf)(bytes, BYTES_TYPE);
  return answerWith(request, body, IMMUTABLE);
}

/** Returns the bytes of a tile, or null if the tree does not have the whole tile yet. */
async function tileBytes(database: Database, tile: Tile): Promise<Uint8Array<ArrayBuffer> | null> {
  const { level, index, width } = tile;
  const start = index * TILE_WIDTH;
  const leaves = (start + width) * TILE_WIDTH ** (level === "entries" ? 0 : level);
  if (!Number.isSafeInteger(leaves)) return null;
  if (level === "entries") return bundleOf(await selectLeafTexts(database, index, width), width);
  const nodes = Array.from({ length: width }, (_, at) => ({
    level: level * LEVELS_OF_TILE,
    index: start + at,
  }));
  const found = await selectSubtrees(database, nodes);
  const hashes = found.filter((hash) => hash !== null);
  return hashes.length === width ? new Uint8Array(Buffer.concat(hashes)) : null;
}

/**
 * Joins texts, each preceded by its length in two bytes. Returns null if there are fewer than `width` texts.
 */
function bundleOf(texts: readonly string[], width: number): Uint8Array<ArrayBuffer> | null {
  if (texts.length < width) return null;
  const parts = texts.flatMap((text) => {
    const bytes = Buffer.from(text);
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt16BE(bytes.length);
    return [length, bytes];
  });
  return new Uint8Array(Buffer.concat(parts));
}
