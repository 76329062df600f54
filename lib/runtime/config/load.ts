import { readFileSync, statSync } from "node:fs";
import type { Static, TObject, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

export type Environment = Readonly<Record<string, string | undefined>>;

/** If the value can be secret, the message never contains it. */
export interface ConfigProblem {
  variable: string;
  message: string;
}

export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(["The configuration is not valid:", ...linesOf(problems)].join("\n"));
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** Names each variable once. */
function linesOf(problems: readonly ConfigProblem[]): string[] {
  const byVariable = Map.groupBy(problems, ({ variable }) => variable);
  return [...byVariable].flatMap(([variable, [first, ...others]]) => {
    if (first === undefined) return [];
    if (others.length === 0) return [`  ${variable} ${first.message}`];
    return [`  ${variable}`, ...[first, ...others].map(({ message }) => `    ${message}`)];
  });
}

/**
 * A check of several variables, or of a file that a variable names. All checks run, so one start reports all problems.
 * Invalid variables are missing from `config`.
 */
export type ConfigCheck<Config> = (config: Partial<Config>) => ConfigProblem[];

/**
 * Reads the variables of `schema` from `env`, or from the file that `NAME_FILE` names. Throws a ConfigError with every
 * problem that the schema and the checks find (OP-5).
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

/** Returns the problems for which {@link loadConfig} throws, or an empty list if it does not throw. */
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
      continue;
    }
    const message = problemOf(rule, value);
    if (message === null) values[variable] = value;
    else refuse({ variable, message });
  }
  const accepted = asAccepted<Schema>(values);
  // Drop the problems that checks find in invalid variables, because checks see these variables as unset.
  const found = checks.flatMap((check) => check(accepted)).filter(({ variable }) => !wrong.has(variable));
  return { values: accepted, problems: [...problems, ...found] };
}

/** Safe, because each value fits the schema of its variable. */
function asAccepted<Schema extends TObject>(values: Record<string, unknown>): Partial<Static<Schema>> {
  // biome-ignore lint/plugin: the comment above the function says why this is safe
  return values as Partial<Static<Schema>>;
}

/** Safe, because `Value.Assert` checks them. */
function checked<Schema extends TObject>(schema: Schema, values: unknown): Static<Schema> {
  Value.Assert(schema, values);
  // biome-ignore lint/plugin: the line above asserts the type
  return values as Static<Schema>;
}

/** Returns the text of a variable, or the problem of the file that `NAME_FILE` names. */
function textOf(
  variable: string,
  rule: TSchema,
  env: Environment,
): { text: string | undefined } | ConfigProblem {
  const fileVariable = `${variable}_FILE`;
  const path = env[fileVariable];
  if (rule.secret !== true || !path) return { text: env[variable] };
  if (env[variable]) return { variable, message: `and ${fileVariable} are both set: set one of them.` };
  const read = readSecretFile(path);
  return "message" in read ? { variable: fileVariable, message: read.message } : { text: read.value };
}

/** Text that cannot be converted stays unchanged, and breaks the rule. */
function readVariable(rule: TSchema, raw: string | undefined): unknown {
  if (raw === undefined || (raw === "" && rule.refuseEmpty !== true)) return rule.default;
  if (rule.type === "integer") return /^\d{1,16}$/.test(raw) ? Number(raw) : raw;
  if (rule.type === "boolean") return raw === "true" ? true : raw === "false" ? false : raw;
  return raw;
}

/** No rule accepts a value of whitespace only. */
function problemOf(rule: TSchema, value: unknown): string | null {
  const isBlank = typeof value === "string" && value.trim() === "";
  if (isBlank || !Value.Check(rule, value)) return `${ruleOf(rule)}.`;
  const found: unknown = typeof rule.check === "function" ? rule.check(value) : true;
  if (found === true) return null;
  return typeof found === "string" ? found : `${ruleOf(rule)}.`;
}

function ruleOf(rule: TSchema): string {
  return typeof rule.rule === "string" ? rule.rule : "is not valid";
}

/** The maximum size of a secret. A larger file is probably the wrong file. */
const SECRET_BYTES_MAX = 65_536;

type SecretFile = { value: string } | { message: string };

/**
 * Removes the line break that editors append. A pipe without a writer would block the start, so only plain files are
 * read. The problem completes a sentence that begins with the variable, and never quotes the file.
 */
export function readSecretFile(path: string): SecretFile {
  try {
    const found = statSync(path);
    if (!found.isFile()) return { message: "must be a plain file that holds the secret." };
    if (found.size > SECRET_BYTES_MAX)
      return { message: "names a file of more than 64 KiB, which is too long for a secret." };
    const value = readFileSync(path, "utf8").replace(/\r?\n$/, "");
    return value === "" ? { message: "names an empty file." } : { value };
  } catch {
    return { message: "must be a file that this user may read." };
  }
}
