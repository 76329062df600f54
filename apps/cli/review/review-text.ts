import {
  type MarkedChange,
  type SettingChange,
  settingChanges,
  subjectOf,
  summaryOf,
} from "@ostiary/lib/domain/routes";
import type { Colors } from "../output.ts";
import { onOneLine } from "../terminal.ts";
import type { Review } from "./review.ts";

const SIGNS = { added: "+", removed: "-", changed: "~" } as const;

/** Returns a review for a terminal: the changes of each service with their marks, then a summary. */
export function reviewText({ services, counts }: Review, colors: Colors): string[] {
  const sections = services.flatMap(({ service, state, changes }) => [
    colors.bold(onOneLine(`${service}: ${state}`)),
    ...changes.flatMap((change) => changeLines(change, colors)),
  ]);
  return [...sections, summaryOf(services.flatMap(({ changes }) => changes).length, counts)];
}

function changeLines(change: MarkedChange, colors: Colors): string[] {
  const paint = { added: colors.green, removed: colors.red, changed: colors.yellow }[change.action];
  return [
    ...whatChanges(change).map((line) => paint(onOneLine(line))),
    ...change.marks.map(({ effect, reason }) => {
      const word = effect === "opens" ? colors.magenta("opens:") : colors.red("breaks:");
      return `    ${word} ${onOneLine(reason)}`;
    }),
  ];
}

/** Returns a line for the change, and a line for each changed setting of a route. */
function whatChanges(change: MarkedChange): string[] {
  const subject = subjectOf(change);
  const settings = settingChanges(change);
  const sign = SIGNS[change.action];
  if (subject.method === null) return [`${sign} ${subject.name}: ${settings.map(sidesOf).join(", ")}`];
  const head = `${sign} ${subject.method} ${subject.path} (${subject.scope})`;
  if (change.action !== "changed") {
    return [[head, ...settings.map((setting) => `${setting.name} ${sidesOf(setting)}`)].join(", ")];
  }
  return [head, ...settings.map((setting) => `    ${setting.name}: ${sidesOf(setting)}`)];
}

function sidesOf({ before, after }: SettingChange): string {
  return [before, after].filter((side) => side !== null).join(" -> ");
}
