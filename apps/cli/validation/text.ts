import { fieldText } from "../refusal-text.ts";
import { onOneLine } from "../terminal.ts";
import type { Finding, Report } from "./findings.ts";

/** Returns one line for each problem, as compilers write them: file, line, column, message. */
export function reportText({ problems }: Report): string[] {
  return problems.map((problem) => onOneLine(`${placeText(problem)}: ${fieldText(problem)}`));
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

function placeText({ file, line, column }: Finding): string {
  return [file, line, column].filter((part) => part !== null).join(":");
}

function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}
