import type { Static, TObject, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { readSecretFile } from "./secret-files.ts";

/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A wrong variable and the rule that it breaks. The message never contains the value of a variable that can be secret. */
export interface ConfigProblem {
  variable: string;
  message: string;
}

/** The error with all problems of an environment (OP-5). */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(["The configuration is not valid:", ...linesOf(problems)].join("\n"));
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/**
 * Returns lines that name each variable once. A variable with several problems has its own line above them.
 */
function linesOf(problems: readonly ConfigProblem[]): string[] {
  const byVariable = Map.groupBy(problems, ({ variable }) => variable);
  return [...byVariable].flatMap(([variable, [first, ...others]]) => {
    if (first === undefined) return [];
    if (others.length === 0) return [`  ${variable} ${first.message}`];
    return [`  ${variable}`, ...[first, ...others].map(({ message }) => `    ${message}`)];
  });
}

/**
 * A rule that the schema of one variable cannot express: about several variables, or about a file that a
 * variable names. Checks run even if some variables are wrong, so that one start reports all problems. Wrong
 * variables are missing from `config`.
 */
export type ConfigCheck<Config> = (config: Partial<Config>) => ConfigProblem[];

/**
 * Reads the variables of `schema` from `env` and returns them, converted and frozen. A variable with `secret`
 * in its schema can be given as `NAME_FILE`, the path of a file that holds the value.
 *
 * @throws ConfigError with every problem that the schema and the checks find.
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

/** Returns the problems for which {@link loadConfig} would throw, or an empty list if it would not throw. */
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
  // A check sees a wrong variable as a missing one, so its findings about wrong variables are dropped.
  const found = checks.flatMap((check) => check(accepted)).filter(({ variable }) => !wrong.has(variable));
  return { values: accepted, problems: [...problems, ...found] };
}

/** Casts the values. This is safe, because each value fits the schema of its variable. */
function asAccepted<Schema extends TObject>(values: Record<string, unknown>): Partial<Static<Schema>> {
  // biome-ignore lint/plugin: the comment above the function says why this is safe
  return values as Partial<Static<Schema>>;
}

/** Casts the values. This is safe, because `Value.Assert` has just proved their shape. */
function checked<Schema extends TObject>(schema: Schema, values: unknown): Static<Schema> {
  Value.Assert(schema, values);
  // biome-ignore lint/plugin: the line above asserts the type
  return values as Static<Schema>;
}

/** Returns the text of a variable from the environment, or from the file that `NAME_FILE` names. */
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

/**
 * Converts the text of a variable to the type in its schema. Text that cannot be converted is returned
 * unchanged.
 */
function readVariable(rule: TSchema, raw: string | undefined): unknown {
  if (raw === undefined || (raw === "" && rule.refuseEmpty !== true)) return rule.default;
  if (rule.type === "integer") return /^\d{1,16}$/.test(raw) ? Number(raw) : raw;
  if (rule.type === "boolean") return raw === "true" ? true : raw === "false" ? false : raw;
  return raw;
}

/** Returns whether the rule accepts a value. White space alone is never accepted. */
function accepts(rule: TSchema, value: unknown): boolean {
  if (typeof value === "string" && value.trim() === "") return false;
  return Value.Check(rule, value) && (typeof rule.check !== "function" || rule.check(value) === true);
}

function ruleOf(rule: TSchema): string {
  return typeof rule.rule === "string" ? rule.rule : "is not valid";
}
