import { fieldText } from "../refusal-text.ts";
import type { PlacedProblem, Report } from "./validation-report.ts";

/** Returns one line for each problem, as compilers write them: file, line, column, message. */
export function reportText({ problems }: Report): string[] {
  return problems.map((problem) => `${placeText(problem)}: ${fieldText(problem)}`);
}

/** Returns a sentence with the numbers of problems and files. */
export function summaryText({ problems, files }: Report): string {
  const inFiles = counted(files.length, "file");
  if (problems.length > 0) return `${counted(problems.length, "problem")} in ${inFiles}.`;
  const services = files.reduce((sum, file) => sum + file.services.length, 0);
  const tests = files.reduce((sum, file) => sum + file.tests, 0);
  const passed = tests === 0 ? "" : ` and ${counted(tests, "test")}`;
  return `No problem in ${inFiles} with ${counted(services, "service")}${passed}.`;
}

function placeText({ file, line, column }: PlacedProblem): string {
  return [file, line, column].filter((part) => part !== null).join(":");
}

function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}

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
