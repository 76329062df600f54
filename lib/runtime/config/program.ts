import type { TObject } from "@sinclair/typebox";
import { describedVariables } from "./described-variables.ts";

/** A program as operators know it. */
export interface Program {
  /** The folder of `apps/` that has the program's README. */
  app: string;
  /** One sentence that says what the program is. */
  about: string;
  variables: TObject;
  /** The schemas of further variables, which the programs of this process read. The help does not list them. */
  parts?: readonly TObject[];
}

const COLUMNS = 100;

/** Returns the help text of a program: what it is, its variables, and where its README is. */
export function programHelp({ app, about, variables, parts }: Program): string {
  const rest =
    parts && "It also reads the variables of the services that it runs: see the help of each service.";
  const lines = describedVariables(variables).flatMap(({ names, fallback, meaning }) => [
    `  ${names.join(" or ")}${fallbackText(fallback)}`,
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

function fallbackText(fallback: string): string {
  return fallback === "" ? "" : ` (${fallback})`;
}

/** Breaks a text between words into lines that fit the columns of a terminal. */
function wrapped(text: string, indent: string): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent.length + line.length + 1 + word.length > COLUMNS) {
      lines.push(indent + line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, indent + line];
}
