import { areClose, meantWord, typingErrors } from "../../domain/errors/index.ts";
import { namesOf } from "./described-variables.ts";
import type { Environment } from "./load.ts";
import type { Program } from "./program.ts";

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
