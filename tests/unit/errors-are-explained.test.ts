/** Checks that `.github/ERRORS.md` lists every message for operators, with what to do about it. */
import { describe, expect, test } from "bun:test";
import { errorCodes } from "@ostiary/lib/domain/errors";
import { errorsPath, listedMessages, messageTables, tablesOf, withMessages } from "../readmes/errors.ts";
import { exitCodes } from "../readmes/messages.ts";

const document = await Bun.file(errorsPath).text();
const rows = tablesOf(document).flatMap(([, ...rows]) => rows);

describe("ERRORS.md explains", () => {
  // ER-7
  test("every error code, with its status", () => {
    const told = Object.fromEntries(rows.map(([code = "", status = ""]) => [code, status]));
    for (const [code, { status }] of Object.entries(errorCodes))
      expect(`${code} ${told[code]}`).toBe(`${code} ${status}`);
  });

  const tables = [...messageTables, { what: "exit code", title: /^Exit codes/, find: exitCodes }];
  test.each(tables.map((table) => [table.what, table] as const))(
    "every %s, and no other (if only words have changed: bun run readme)",
    async (_, { title, find }) => {
      expect([...new Set(listedMessages(document, title))].toSorted()).toEqual((await find()).toSorted());
    },
  );

  test("what to do about each message", () => {
    for (const cells of rows) {
      expect(cells.length).toBeGreaterThanOrEqual(3);
      expect(cells.every((cell) => cell !== "")).toBe(true);
    }
  });
});

describe("bun run readme", () => {
  test("gives each row of ERRORS.md the new words of its message, in aligned tables", async () => {
    const reworded = document
      .replace("| is required if … is set.", "| is needed wherever … is set.")
      .replace("| permission denied.", "| the permission is denied.")
      .replace("| request failed", "| a request has failed");
    expect(await withMessages(reworded)).toBe(document);
  });

  test("keeps the row of a message that is gone, and adds no row for a new one", async () => {
    const stale = document.replace("| permission denied.", "| gone for good");
    expect(listedMessages(await withMessages(stale), /^Folders/)).toContain("gone for good");
    expect(tablesOf(await withMessages(stale)).flat()).toHaveLength(tablesOf(document).flat().length);
  });
});
