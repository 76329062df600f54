import { expect, test } from "bun:test";
import { shippedFile } from "@ostiary/lib/runtime/shipped-files";

/** A statement of a migration that alters a table from an earlier migration. */
interface Alteration {
  readonly migration: string;
  readonly statement: string;
}

/** Clauses that make PostgreSQL read or rewrite a whole table while writers wait. */
const SLOW: Readonly<Record<string, RegExp>> = {
  "a check that is validated at once": /\bcheck\s*\((?![\s\S]*\bnot valid\b)/,
  "a foreign key that is validated at once": /\bforeign key\b(?![\s\S]*\bnot valid\b)/,
  "a primary key or a unique constraint without an index":
    /\badd (?:constraint \w+ )?(?:primary key|unique)\b(?! using index)/,
  "another column type": /\balter (?:column )?\w+ (?:set data )?type\b/,
  "set not null": /\bset not null\b/,
  "a column with a function as its default": /\badd column [^,]*\bdefault \w+\(/,
};

function slowParts(statement: string): string[] {
  const text = statement.replaceAll(/--[^\n]*/g, "").toLowerCase();
  return Object.entries(SLOW).flatMap(([name, pattern]) => (pattern.test(text) ? [name] : []));
}

async function alterationsIn(schema: string): Promise<Alteration[]> {
  const journal = await Bun.file(shippedFile(`drizzle/${schema}/meta/_journal.json`)).json();
  const later: string[] = journal.entries.slice(1).map(({ tag }: { tag: string }) => tag);
  const found = await Promise.all(
    later.map(async (migration) => {
      const text = await Bun.file(shippedFile(`drizzle/${schema}/${migration}.sql`)).text();
      const made = new Set(
        [...text.matchAll(/create table (?:if not exists )?([\w.]+)/gi)].map(([, name]) => name),
      );
      return text
        .split("--> statement-breakpoint")
        .map((statement) => ({
          statement,
          table: /^\s*alter table (?:only )?([\w.]+)/im.exec(statement)?.[1],
        }))
        .filter(({ table }) => table !== undefined && !made.has(table))
        .map(({ statement }) => ({ migration: `${schema}/${migration}`, statement }));
    }),
  );
  return found.flat();
}

// OP-91
test("the migrations do not read or rewrite a whole existing table while writers wait", async () => {
  const alterations = (await Promise.all(["routes", "identity", "audit"].map(alterationsIn))).flat();
  expect(
    alterations.flatMap(({ migration, statement }) => slowParts(statement).map((part) => [migration, part])),
  ).toEqual([]);
});
