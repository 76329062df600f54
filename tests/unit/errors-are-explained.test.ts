/** Checks that `.github/ERRORS.md` knows every error code and exit code, and no message that is gone. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { errorCodes } from "@ostiary/lib/domain/errors";
import { ROOT } from "../support/root.ts";

const document = await Bun.file(join(ROOT, ".github/ERRORS.md")).text();

/** Returns the rows of the table below a heading as cells, without the head. */
function rowsBelow(heading: string): string[][] {
  const section = document.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? "";
  return (section.match(/^\| .*/gm) ?? []).slice(2).map((line) =>
    line
      .slice(1, -1)
      .split(" | ")
      .map((cell) => cell.trim()),
  );
}

async function sourceText(): Promise<string> {
  const files = await Array.fromAsync(new Bun.Glob("{apps,lib}/**/*.ts").scan({ cwd: ROOT }));
  const own = files.filter((file) => !file.includes("node_modules"));
  return (await Promise.all(own.map((file) => Bun.file(join(ROOT, file)).text()))).join("\n");
}

describe("ERRORS.md", () => {
  // ER-7
  test("says what to do about every error code, with its statuses", () => {
    const listed = rowsBelow("Responses").flatMap(([code, statuses = ""]) =>
      statuses.split(", ").map((status) => `${code} ${status}`),
    );
    const known = Object.entries(errorCodes).map(
      ([name, { status }]) => `${name === "BAD_GATEWAY" ? "SERVICE_UNAVAILABLE" : name} ${status}`,
    );
    expect(listed.toSorted()).toEqual(known.toSorted());
  });

  test("explains every exit code of the sources", async () => {
    const source = await sourceText();
    const codes = [...source.matchAll(/\b(?:EXIT_[A-Z]+|exitCode) = (\d+);/g)].map(([, code = ""]) => code);
    const listed = rowsBelow("Exit codes").map(([code]) => code ?? "");
    expect([...new Set(listed)].toSorted()).toEqual([...new Set(codes)].toSorted());
  });
});
