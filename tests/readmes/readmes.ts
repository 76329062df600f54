import { join } from "node:path";
import { auditProgram } from "@ostiary/audit/config";
import { demoProgram } from "@ostiary/demo/config";
import { gatewayProgram } from "@ostiary/gateway/config";
import { identityProgram } from "@ostiary/identity/config";
import type { Program } from "@ostiary/lib/runtime/config";
import { platformProgram } from "@ostiary/platform/config";
import { portalProgram } from "@ostiary/portal/config";
import { registryProgram } from "@ostiary/registry/config";
import type { TObject } from "@sinclair/typebox";
import { ROOT } from "../support/root.ts";
import { variableTable } from "./variable-table.ts";

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

export function readmePath(app: string): string {
  return join(ROOT, "apps", app, "README.md");
}

/** Returns an app's README with a new variable table between its markers. */
export function withTable(app: string, readme: string): string {
  const schema = schemas[app];
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (schema === undefined || begin < 0 || end < begin) {
    throw new Error(`The README of ${app} needs a line ${BEGIN.trim()} and after it a line ${END}.`);
  }
  return `${readme.slice(0, begin) + BEGIN}\n${variableTable(schema)}\n${readme.slice(end)}`;
}
