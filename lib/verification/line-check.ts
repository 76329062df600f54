import { type ProofEnd, proofEndSchema } from "../contracts/audit/index.ts";
import { fits } from "../domain/errors/index.ts";
import { NotIJson, parseIJson } from "../domain/json/index.ts";
import type { Problems } from "./problems.ts";

/** Parses a line. Returns undefined and adds a problem if the line is not I-JSON (AU-77). */
export function parseLine(text: string, line: number, problems: Problems): unknown {
  try {
    return parseIJson(text);
  } catch (error) {
    const violation = error instanceof NotIJson ? error.violation : null;
    problems.add({ code: "line_not_i_json", line, violation });
    return undefined;
  }
}

/** Returns the end of an export. Returns null and adds a problem if the value has missing or unknown fields (AU-77). */
export function endOf(value: unknown, line: number, problems: Problems): ProofEnd | null {
  if (fits(proofEndSchema, value)) return value;
  problems.add({ code: "end_unreadable", line });
  return null;
}
