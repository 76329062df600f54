import type { TObject, TSchema } from "@sinclair/typebox";
import { listenVariables } from "./service-variables.ts";

interface DescribedVariable {
  names: string[];
  /** The default, `required`, or an empty text for an optional variable. */
  fallback: string;
  meaning: string;
  rule: TSchema;
}

/** Describes the variables of `schema` to operators. The variables that every service has come last. */
export function describedVariables(schema: TObject): DescribedVariable[] {
  return Object.entries(schema.properties)
    .toSorted(([one], [other]) => Number(isShared(one)) - Number(isShared(other)))
    .map(([name, rule]) => ({
      names: namesOf(name, rule),
      fallback: String(rule.default ?? (schema.required?.includes(name) ? "required" : "")),
      meaning: rule.description ?? "",
      rule,
    }));
}

export function namesOf(name: string, rule: TSchema): string[] {
  return rule.secret === true ? [name, `${name}_FILE`] : [name];
}

const shared = listenVariables({ host: "0.0.0.0", port: 0, internal_port: 0 });
const isShared = (name: string) => name in shared;
