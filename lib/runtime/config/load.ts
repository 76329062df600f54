import type { Static, TObject, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { readSecretFile } from "./secret-files.ts";

/** The variables that a process was started with. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One variable that is wrong, and the rule that it breaks. Never carries the value of what may be a secret. */
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

/**
 * A rule that one variable's schema can not say: over several variables, or over what a variable leads to. It
 * runs also when some variables are wrong, so that one round names everything; those are missing from `config`.
 */
export type ConfigCheck<Config> = (config: Partial<Config>) => ConfigProblem[];

/**
 * Reads the variables that `schema` names from `env` and returns them, converted and frozen. A variable whose
 * schema says `secret` may be given as `NAME_FILE`, the path of a file that holds it.
 * Throws {@link ConfigError} with every problem that the schema and the checks find.
 */
export function loadConfig<Schema extends TObject>(
  schema: Schema,
  env: Environment,
  ...checks: ConfigCheck<Static<Schema>>[]
): Readonly<Static<Schema>> {
  const { values, problems } = readVariables(schema, env, checks);
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(checked(schema, values));
}

/** What {@link loadConfig} would refuse; empty when it would not. */
export function configProblems<Schema extends TObject>(
  schema: Schema,
  env: Environment,
  ...checks: ConfigCheck<Static<Schema>>[]
): ConfigProblem[] {
  return readVariables(schema, env, checks).problems;
}

function readVariables<Schema extends TObject>(
  schema: Schema,
  env: Environment,
  checks: ConfigCheck<Static<Schema>>[],
): { values: Partial<Static<Schema>>; problems: ConfigProblem[] } {
  const problems: ConfigProblem[] = [];
  const values: Record<string, unknown> = {};
  const wrong = new Set<string>();
  const refuse = (problem: ConfigProblem, name = problem.variable) => {
    problems.push(problem);
    wrong.add(name).add(problem.variable);
  };
  for (const [variable, rule] of Object.entries(schema.properties)) {
    const given = textOf(variable, rule, env);
    if ("message" in given) {
      refuse(given, variable);
      continue;
    }
    const value = readVariable(rule, given.text);
    if (value === undefined) {
      if (schema.required?.includes(variable))
        refuse({ variable, message: `is required: it ${ruleOf(rule)}.` });
    } else if (accepts(rule, value)) {
      values[variable] = value;
    } else {
      refuse({ variable, message: `${ruleOf(rule)}.` });
    }
  }
  const accepted = asAccepted<Schema>(values);
  // a check can not tell a variable that is wrong from one that is missing
  const found = checks.flatMap((check) => check(accepted)).filter(({ variable }) => !wrong.has(variable));
  return { values: accepted, problems: [...problems, ...found] };
}

/** Safe: each value was accepted by the schema of its own variable. */
function asAccepted<Schema extends TObject>(values: Record<string, unknown>): Partial<Static<Schema>> {
  // biome-ignore lint/plugin: see above
  return values as Partial<Static<Schema>>;
}

/** Safe: `Value.Assert` has just proved that `values` has the shape that `Static` names. */
function checked<Schema extends TObject>(schema: Schema, values: unknown): Static<Schema> {
  Value.Assert(schema, values);
  // biome-ignore lint/plugin: asserted on the line above
  return values as Static<Schema>;
}

/** The text of a variable as it stands in the environment, or in the file that `NAME_FILE` names. */
function textOf(
  variable: string,
  rule: TSchema,
  env: Environment,
): { text: string | undefined } | ConfigProblem {
  const file_variable = `${variable}_FILE`;
  const path = env[file_variable];
  if (rule.secret !== true || !path) return { text: env[variable] };
  if (env[variable]) return { variable, message: `and ${file_variable} are both set: set one of them.` };
  const read = readSecretFile(path);
  return "message" in read ? { variable: file_variable, message: read.message } : { text: read.value };
}

/** Converts the text of a variable to the kind its schema asks for; text that can't be converted stays text. */
function readVariable(rule: TSchema, raw: string | undefined): unknown {
  if (raw === undefined || (raw === "" && rule.refuseEmpty !== true)) return rule.default;
  if (rule.type === "integer") return /^\d{1,16}$/.test(raw) ? Number(raw) : raw;
  if (rule.type === "boolean") return raw === "true" ? true : raw === "false" ? false : raw;
  return raw;
}

/** White space alone is no value of anything. */
function accepts(rule: TSchema, value: unknown): boolean {
  if (typeof value === "string" && value.trim() === "") return false;
  return Value.Check(rule, value) && (typeof rule.check !== "function" || rule.check(value) === true);
}

function ruleOf(rule: TSchema): string {
  return typeof rule.rule === "string" ? rule.rule : "is not valid";
}
