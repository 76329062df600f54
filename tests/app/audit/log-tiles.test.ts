import { beforeAll, describe, expect, test } from "bun:test";
import { hexOf } from "@ostiary/lib/domain/proof";
import {
  knownSignatures,
  leafHash,
  readNote,
  readNoteKey,
  readTreeHead,
  rootOfLeaves,
} from "@ostiary/lib/domain/tlog";
import { json, sharedAudit } from "./bed.ts";
import { exportProof, startProvenAudit, verifierKeyOf, writeEvents, writeSigningKey } from "./proof-bed.ts";

const ORIGIN = "log.example/tree";

describe("the log as tiles", () => {
  const keyFile = writeSigningKey();
  const verifierKey = verifierKeyOf(keyFile, ORIGIN);
  const audit = sharedAudit(
    { env: { AUDIT_LOG_ORIGIN: ORIGIN, AUDIT_SIGNING_KEY_FILE: keyFile } },
    startProvenAudit,
  );
  let leaves: string[];
  beforeAll(async () => {
    for (let n = 0; n < 3; n++) {
      await writeEvents(audit, 1);
      await exportProof(audit);
    }
    const bundle = await (await audit.get("/audit-log/tile/entries/000.p/3")).bytes();
    leaves = textsOf(bundle);
  });

  // AU-152
  test("has a root over all leaves that the log's key signs, cacheable for two seconds", async () => {
    const response = await audit.get("/audit-log/checkpoint");
    const note = readNote(await response.text());
    const head = readTreeHead(note?.text ?? "");
    expect(head).toMatchObject({ origin: ORIGIN, size: 3, extensions: [] });
    expect(head && hexOf(head.root)).toBe(hexOf(rootOfLeaves(leaves.map(leafHash))));
    const key = readNoteKey(verifierKey);
    if (note === null || key === null) throw new Error("The root or the key cannot be read.");
    expect(await knownSignatures(note, [key])).toEqual([{ key, isRight: true, timeS: null }]);
    expect(response.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
    expect(response.headers.get("Cache-Control")).toBe("public, max-age=2");
    const known = { "If-None-Match": response.headers.get("ETag") ?? "" };
    expect((await audit.get("/audit-log/checkpoint", known)).status).toBe(304);
  });

  // AU-152
  test("has the verifier keys that sign, one on each line", async () => {
    const response = await audit.get("/audit-log/key");
    expect([response.status, await response.text()]).toEqual([200, `${verifierKey}\n`]);
  });

  // AU-56
  test("has leaves that are canonical JSON, are counted from 0, and never go back in time", () => {
    const read = leaves.map((text) => JSON.parse(text));
    expect(read.map(({ number }) => number)).toEqual([0, 1, 2]);
    const times = read.map(({ sealed_at }) => sealed_at);
    expect(times).toEqual(times.toSorted());
    for (const [index, { map, number, sealed_at }] of read.entries()) {
      expect(JSON.stringify({ map, number, sealed_at })).toBe(leaves[index] ?? "");
    }
  });

  // AU-153
  test("has hashes and leaves at each tile width, cacheable forever", async () => {
    for (let width = 1; width <= 3; width++) {
      const tile = await audit.get(`/audit-log/tile/0/000.p/${width}`);
      expect(tile.headers.get("Cache-Control")).toContain("immutable");
      expect(tile.headers.get("Content-Type")).toBe("application/octet-stream");
      expect(Buffer.from(await tile.bytes())).toEqual(Buffer.concat(leaves.slice(0, width).map(leafHash)));
      const bundle = await audit.get(`/audit-log/tile/entries/000.p/${width}`);
      expect(textsOf(await bundle.bytes())).toEqual(leaves.slice(0, width));
    }
  });

  // AU-153
  test.each(["/tile/0/000", "/tile/0/x999/x999/999.p/255", "/tile/entries/000", "/tile/63/x999/x999/999"])(
    "is 404 for a tile that the tree does not reach: %s",
    async (path) => {
      const response = await audit.get(`/audit-log${path}`);
      const { resource } = (await json(response)).error.details;
      expect([response.status, resource]).toEqual([404, "audit_log_tile"]);
      expect(response.headers.get("Cache-Control") ?? "").not.toContain("immutable");
    },
  );

  // AU-153
  test.each(["/tile/0/0", "/tile/0/000.p/256", "/tile/64/000", "/tile/0/000?width=3", "/checkpoint?size=3"])(
    "is 422 for a malformed tile path and for query parameters: %s",
    async (path) => {
      const response = await audit.get(`/audit-log${path}`);
      expect([response.status, (await json(response)).error.code]).toEqual([422, "VALIDATION_ERROR"]);
    },
  );
});

/** Returns the texts of a bundle. Each text follows its length in two bytes. */
function textsOf(bundle: Uint8Array): string[] {
  const texts: string[] = [];
  for (let at = 0; at < bundle.length; ) {
    const length = Buffer.from(bundle).readUInt16BE(at);
    texts.push(Buffer.from(bundle.subarray(at + 2, at + 2 + length)).toString());
    at += 2 + length;
  }
  return texts;
}
