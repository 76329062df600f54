/** Checks that `.github/ERRORS.md` lists every message for operators, with what to do about it. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { errorCodes } from "@ostiary/lib/domain/errors";
import { bootFailures, exitCodes, logWarnings, refusalsOfVariables } from "./messages.ts";

const document = await Bun.file(join(import.meta.dir, "../../.github/ERRORS.md")).text();
const rows = document
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .map((line) =>
    line
      .slice(1, -1)
      .split(" | ")
      .map((cell) => cell.replace(/^\||\|$/g, "").trim()),
  );
const explained = new Set(rows.map(([first = ""]) => first));

const missing = (messages: string[]) => messages.filter((message) => !explained.has(message));

describe("ERRORS.md explains", () => {
  // ER-7
  test("every error code, with its status", () => {
    const told = Object.fromEntries(rows.map(([code = "", status = ""]) => [code, status]));
    for (const [code, { status }] of Object.entries(errorCodes))
      expect(`${code} ${told[code]}`).toBe(`${code} ${status}`);
  });

  test.each([
    ["exit code", exitCodes, 6],
    ["reason why a store or a folder cannot be used", bootFailures, 35],
    ["refusal of a variable for more than its own rule", refusalsOfVariables, 12],
    ["warning and error of the log", logWarnings, 35],
  ])("every %s", async (_, messages, at_least) => {
    const said = await messages();
    expect(said.length).toBeGreaterThanOrEqual(at_least);
    expect(missing(said)).toEqual([]);
  });

  test("only messages that the sources have", async () => {
    const said = new Set([...(await bootFailures()), ...(await logWarnings())]);
    const sections = document.split("\n## ").filter((part) => /^(Stores|Folders|Warnings)/.test(part));
    const listed = sections.flatMap((part) =>
      part.split("\n").flatMap((line) => /^\| (\S.*?) +\|/.exec(line)?.[1] ?? []),
    );
    const stale = listed.filter((text) => !said.has(text) && !/^(Message|Reason after|-+)/.test(text));
    expect(stale).toEqual([]);
  });

  test("what to do about each message", () => {
    for (const cells of rows) {
      expect(cells.length).toBeGreaterThanOrEqual(3);
      expect(cells.every((cell) => cell !== "")).toBe(true);
    }
  });
});
