import { sql } from "drizzle-orm";
import { type Orm, rows } from "./orm.ts";

/** An index on a table that existed before the migration. It is built while other sessions write (OP-68). */
export interface IndexStep {
  readonly kind: "index";
  readonly name: string;
  readonly table: string;
  readonly isUnique: boolean;
  /** The rest of the definition after the table's name, such as `(name) where name is not null`. */
  readonly definition: string;
  readonly isPartitioned: boolean;
}

export type Step = IndexStep | { readonly kind: "statements"; readonly statements: readonly string[] };

const COMMENTS = String.raw`(?:\s*--[^\n]*\n)*\s*`;
const CREATE_TABLE = new RegExp(`^${COMMENTS}create table (?:if not exists )?([a-z0-9_.]+)`, "i");
const VALIDATE = new RegExp(`^${COMMENTS}alter table [a-z0-9_.]+\\s+validate constraint `, "i");
const CREATE_INDEX = new RegExp(`^${COMMENTS}create (unique )?index ([a-z0-9_]+)\\s+on ([a-z0-9_.]+)`, "i");

/**
 * Splits a migration into steps. Each index on an existing table is a step, and so is each validation of a constraint.
 * Both read the whole table, which must not prolong the locks of earlier statements (OP-91). Indexes of partitioned
 * tables come last, so the statements around them can share a step.
 */
export async function stepsOf(orm: Orm, statements: readonly string[]): Promise<Step[]> {
  const made = new Set(statements.flatMap((each) => CREATE_TABLE.exec(each)?.[1] ?? []));
  const steps: Step[] = [];
  const last: Step[] = [];
  let together: string[] = [];
  const close = () => {
    if (together.length > 0) steps.push({ kind: "statements", statements: together });
    together = [];
  };
  for (const statement of statements.filter((each) => each.trim() !== "")) {
    if (VALIDATE.test(statement)) {
      close();
      steps.push({ kind: "statements", statements: [statement] });
      continue;
    }
    const [head = "", unique = "", name = "", table = ""] = CREATE_INDEX.exec(statement) ?? [];
    if (name === "" || made.has(table)) {
      together.push(statement);
      continue;
    }
    const isPartitioned = await hasPartitions(orm, table);
    const definition = statement.slice(head.length);
    const step: Step = { kind: "index", name, table, isUnique: unique !== "", definition, isPartitioned };
    if (isPartitioned) last.push(step);
    else {
      close();
      steps.push(step);
    }
  }
  close();
  return [...steps, ...last];
}

async function hasPartitions(orm: Orm, table: string): Promise<boolean> {
  const [found] = await rows<{ partitioned: boolean }>(
    orm,
    sql`select relkind = 'p' as partitioned from pg_class where oid = to_regclass(${table})`,
  );
  return found?.partitioned === true;
}
