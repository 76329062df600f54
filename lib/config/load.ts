import type { Static, TObject, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/** One variable that is wrong, and the rule that it breaks. Never carries the value, which may be a secret. */
export interface ConfigProblem {
  variable: string;
  message: string;
}

/** Every problem of an environment at once (contract 1). */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(
      [
        "The configuration is not valid:",
        ...problems.map((problem) => `  ${problem.variable} ${problem.message}`),
      ].join("\n"),
    );
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** A rule over several variables: returns what is wrong with them together. */
export type ConfigCheck<Config> = (config: Config) => ConfigProblem[];

/**
 * Reads the variables that `schema` names from `env` and returns them, converted and frozen.
 * Throws {@link ConfigError} with every problem; `checks` run on top, once all variables are well formed.
 */
export function loadConfig<Schema extends TObject>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>>,
  ...checks: ConfigCheck<Static<Schema>>[]
): Readonly<Static<Schema>> {
  const problems: ConfigProblem[] = [];
  const values: Record<string, unknown> = {};
  for (const [variable, rule] of Object.entries(schema.properties)) {
    const value = readVariable(rule, env[variable]);
    if (value === undefined) {
      if (schema.required?.includes(variable))
        problems.push({ variable, message: `is required: it ${ruleOf(rule)}.` });
    } else if (accepts(rule, value)) {
      values[variable] = value;
    } else {
      problems.push({ variable, message: `${ruleOf(rule)}.` });
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const config = Object.freeze(checked(schema, values));
  const found = checks.flatMap((check) => check(config));
  if (found.length > 0) throw new ConfigError(found);
  return config;
}

/** Safe: `Value.Assert` has just proved that `values` has the shape that `Static` names. */
function checked<Schema extends TObject>(schema: Schema, values: Record<string, unknown>): Static<Schema> {
  Value.Assert(schema, values);
  // biome-ignore lint/plugin: asserted on the line above
  return values as Static<Schema>;
}

/** Converts the text of a variable to the kind its schema asks for; text that can't be converted stays text. */
function readVariable(rule: TSchema, raw: string | undefined): unknown {
  if (raw === undefined || (raw === "" && rule.refuseEmpty !== true)) return rule.default;
  if (rule.type === "integer") return /^\d{1,15}$/.test(raw) ? Number(raw) : raw;
  if (rule.type === "boolean") return raw === "true" ? true : raw === "false" ? false : raw;
  return raw;
}

function accepts(rule: TSchema, value: unknown): boolean {
  return Value.Check(rule, value) && (rule.url !== true || URL.canParse(String(value)));
}

function ruleOf(rule: TSchema): string {
  return typeof rule.rule === "string" ? rule.rule : "is not valid";
}
