import type { TObject, TSchema } from "@sinclair/typebox";
import { areClose, meantWord, typingErrors } from "../../domain/errors/index.ts";
import type { Environment } from "./load.ts";
import { listenVariables } from "./service-variables.ts";

export interface Program {
  app: string;
  about: string;
  variables: TObject;
  /** The variables of the other programs of this process, which the help does not list. */
  parts?: readonly TObject[];
}

const COLUMNS = 100;

export function programHelp({ app, about, variables, parts }: Program): string {
  const rest =
    parts && "It also reads the variables of the services that it runs: see the help of each service.";
  const lines = describedVariables(variables).flatMap(({ names, fallback, meaning }) => [
    `  ${names.join(" or ")}${fallback && ` (${fallback})`}`,
    ...wrapped(meaning, "      "),
  ]);
  const paragraphs = [
    wrapped(about, ""),
    ["Variables of the environment, with their defaults:", ...lines],
    rest ? wrapped(rest, "") : [],
    [`The README is apps/${app}/README.md.`],
  ];
  return paragraphs
    .filter((paragraph) => paragraph.length > 0)
    .map((paragraph) => `${paragraph.join("\n")}\n`)
    .join("\n");
}

function wrapped(text: string, indent: string): string[] {
  const lines = Bun.wrapAnsi(text, COLUMNS - indent.length).split("\n");
  return lines.map((line) => indent + line);
}

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

/** Returns a hint for each unknown variable that is close to a variable of the program, without its value (OP-134). */
export function hintsOfVariables({ variables, parts = [] }: Program, env: Environment): string[] {
  const schemas = [variables, ...parts];
  const known = schemas.flatMap(({ properties }) =>
    Object.entries(properties).flatMap(([name, rule]) => namesOf(name, rule)),
  );
  return Object.keys(env)
    .filter((name) => CAN_BE_MISSPELLED.test(name) && !known.includes(name))
    .flatMap((name) => {
      const meant = meantWord(
        name,
        known.filter((each) => isTypingError(name, each)),
      );
      return meant === undefined ? [] : [`${name} is not a variable of this service: did you mean ${meant}?`];
    });
}

/** OpenTelemetry has more variables than Ostiary reads. */
const CAN_BE_MISSPELLED = /^(?!OTEL_)[A-Z]+(?:_[A-Z]+)+$/;

/** If two letters differ, every word must be close: REGISTRY_HOST is not a misspelling of REGISTRY_PORT. */
function isTypingError(name: string, known: string): boolean {
  const errors = typingErrors(name, known);
  if (errors === undefined || errors === 1) return errors === 1;
  const [words, others] = [name.split("_"), known.split("_")];
  return (
    words.length === others.length &&
    words.every((word, index) => word === others[index] || areClose(word, others[index] ?? ""))
  );
}
