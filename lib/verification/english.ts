import type { Finding, Place } from "./findings.ts";
import { ENGLISH } from "./sentences.ts";

/** Returns a finding as English sentences. */
export function englishOf({ code, place, expected, found }: Finding): string {
  const where = englishPlace(place);
  return [
    `${where}${where === "" ? "" : ": "}${ENGLISH[code]}`,
    ...(expected === null ? [] : [`Expected: ${expected}.`]),
    ...(found === null ? [] : [`Found: ${found}.`]),
  ].join(" ");
}

function englishPlace({ line, event_id, position, to, leaf, root }: Place): string {
  const parts = [
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(event_id === undefined ? [] : [`event ${event_id}`]),
    ...(position === undefined
      ? []
      : [to === undefined || to === position ? `position ${position}` : `positions ${position} to ${to}`]),
    ...(leaf === undefined ? [] : [`leaf ${leaf}`]),
    ...(root === undefined ? [] : [root]),
  ].join(", ");
  return parts.charAt(0).toUpperCase() + parts.slice(1);
}
