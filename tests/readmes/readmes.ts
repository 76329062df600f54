import { join } from "node:path";
import { auditVariables } from "@ostiary/audit/config";
import { demoVariables } from "@ostiary/demo/config";
import { gatewayVariables } from "@ostiary/gateway/config";
import { identityVariables } from "@ostiary/identity/config";
import { platformVariables } from "@ostiary/platform/config";
import { portalVariables } from "@ostiary/portal/config";
import { registryVariables } from "@ostiary/registry/config";
import type { TObject } from "@sinclair/typebox";
import { ROOT } from "../support/root.ts";
import { variableTable } from "./variable-table.ts";

/** The schemas behind the variable tables, by app. */
export const schemas: Readonly<Record<string, TObject>> = {
  gateway: gatewayVariables,
  registry: registryVariables,
  identity: identityVariables,
  audit: auditVariables,
  portal: portalVariables,
  platform: platformVariables,
  demo: demoVariables,
};

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
