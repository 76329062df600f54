import type { TObject } from "@sinclair/typebox";
import { describedVariables } from "./described-variables.ts";

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
