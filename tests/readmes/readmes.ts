import { join } from "node:path";
import { auditProgram } from "@ostiary/audit/config";
import { demoProgram } from "@ostiary/demo/config";
import { gatewayProgram } from "@ostiary/gateway/config";
import { identityProgram } from "@ostiary/identity/config";
import type { Program } from "@ostiary/lib/runtime/config";
import { portalProgram } from "@ostiary/portal/config";
import { registryProgram } from "@ostiary/registry/config";
import type { TObject } from "@sinclair/typebox";
import { platformProgram } from "../../apps/platform/config.ts";
import { ROOT } from "../support/root.ts";
import { sharedRows, sharedTable, variableRows, variableTable } from "./variable-table.ts";

/** Every program that has a README with a variable table. */
export const programs: readonly Program[] = [
  gatewayProgram,
  registryProgram,
  identityProgram,
  auditProgram,
  portalProgram,
  platformProgram,
  demoProgram,
];

/** The schemas behind the variable tables, by app. */
export const schemas: Readonly<Record<string, TObject>> = Object.fromEntries(
  programs.map(({ app, variables }) => [app, variables]),
);

const BEGIN = "<!-- variables: written by bun run readme -->\n";
const END = "<!-- /variables -->";

/** The page with the variables that are the same in every service. */
export const sharedPath = join(ROOT, ".github/operations/README.md");

const services = [gatewayProgram, registryProgram, identityProgram, auditProgram].map(
  ({ variables }) => variables,
);

export function readmePath(app: string): string {
  return join(ROOT, "apps", app, "README.md");
}

/** Returns an app's README with a new table of its own variables between its markers. */
export function withTable(app: string, readme: string): string {
  const schema = schemas[app];
  if (schema === undefined) throw new Error(`There is no app ${app}.`);
  return between(`The README of ${app}`, readme, variableTable(schema, elsewhere(app)));
}

/** Returns the rows that an app's README leaves to another page. The platform leaves those of its parts to them. */
function elsewhere(app: string): string[][] {
  const parts = app === "platform" ? programs.filter((program) => program.app !== app) : [];
  return [...sharedRows(services), ...parts.flatMap(({ variables }) => variableRows(variables))];
}

/** Returns the page of operations with a new table of the variables that are the same in every service. */
export function withSharedTable(page: string): string {
  return between("The page of operations", page, sharedTable(services));
}

function between(name: string, page: string, table: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) {
    throw new Error(`${name} needs a line ${BEGIN.trim()} and after it a line ${END}.`);
  }
  return `${page.slice(0, begin) + BEGIN}\n${table}\n${page.slice(end)}`;
}
