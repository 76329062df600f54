import { fieldText } from "../refusal-text.ts";
import type { Report } from "./findings.ts";

/**
 * Returns one GitHub workflow command for each problem, which annotates the line in a pull request. GitHub shows only
 * the first ten annotations of a step.
 */
export function annotations({ problems }: Report): string[] {
  return problems.map((problem) => {
    const { file, line, column, rule } = problem;
    const properties = Object.entries({ file, line, col: column, title: `ostiary ${rule}` })
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${name}=${propertyText(String(value))}`);
    return `::error ${properties.join(",")}::${messageText(fieldText(problem))}`;
  });
}

/** Escapes the characters that end a command or begin an escape, as GitHub's own toolkit does. */
function messageText(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function propertyText(text: string): string {
  return messageText(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
