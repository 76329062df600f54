import { tryJson } from "@ostiary/lib/domain/json";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const Snapshot = Type.String({ pattern: "^[0-9]{1,20}:[0-9]{1,20}:([0-9]{1,20}(,[0-9]{1,20})*)?$" });

/**
 * The place of a reader, who knows all changes of the transactions that `seen` shows as completed. Between two pages,
 * the reader also knows the changes up to `page` of the transactions that `page.seen` shows as completed.
 */
const Cursor = Type.Object(
  {
    /**
     * The times at which the database server and its statistics began. Statistics begin again after a crash. After
     * either beginning, the server can reuse the ids of lost transactions.
     */
    server: Type.String({ pattern: "^[0-9.-]{1,60}$" }),
    /** The time of the database at which the cursor was made, in epoch milliseconds. */
    at: Type.Integer({ minimum: 0 }),
    seen: Snapshot,
    page: Type.Optional(
      Type.Object(
        {
          seen: Snapshot,
          xid: Type.String({ pattern: "^[0-9]{1,20}$" }),
          n: Type.String({ pattern: "^[0-9]{1,18}$" }),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
export type Cursor = Static<typeof Cursor>;

/** The maximum length of a cursor, which stands in a URL. */
export const CURSOR_LENGTH_MAX = 12_000;

/**
 * Returns a cursor as text. If the text is too long, the cursor covers only transactions before the oldest running one;
 * later changes are sent again.
 */
export function writeCursor(cursor: Cursor): string {
  const text = encoded(cursor);
  if (text.length <= CURSOR_LENGTH_MAX) return text;
  const [xmin] = cursor.seen.split(":");
  return encoded({ ...cursor, seen: `${xmin}:${xmin}:` });
}

function encoded(cursor: Cursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString("base64url");
}

/** Returns the cursor that a text encodes, or null. */
export function readCursor(text: string): Cursor | null {
  const read = tryJson(Buffer.from(text, "base64url").toString());
  if (!Value.Check(Cursor, read)) return null;
  const { seen, page } = read;
  const isSound =
    isSnapshot(seen) && (page === undefined || (isSnapshot(page.seen) && isXid(BigInt(page.xid))));
  return isSound ? read : null;
}

/** Returns whether the database accepts the text as a snapshot: `xmin:xmax:` and the ascending ids between them. */
function isSnapshot(text: string): boolean {
  const [xmin, xmax, running] = text.split(":").map((part) => part.split(",").filter(Boolean).map(BigInt));
  const [first = 0n] = xmin ?? [];
  const [end = 0n] = xmax ?? [];
  if (!isXid(first) || !isXid(end) || first > end) return false;
  return (running ?? []).every(
    (xid, index, all) => xid >= first && xid < end && xid > (all[index - 1] ?? 0n),
  );
}

const XID_MAX = 2n ** 62n;

function isXid(xid: bigint): boolean {
  return xid > 0n && xid < XID_MAX;
}
