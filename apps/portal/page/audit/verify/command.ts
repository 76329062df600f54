import { shellLiteral } from "@ostiary/lib/openapi";
import type { WitnessSettings } from "../../settings.ts";
import type { Log } from "../logs.ts";

/** Returns the shell commands that verify a log as the page does, with the same owner and witnesses. */
export function commandOf(
  { as, path }: Pick<Log, "as" | "path">,
  owner: string,
  witnesses: WitnessSettings | null,
  origin: string,
): string {
  const credential = as === "member" ? "X-API-Key: $KEY" : "Authorization: Bearer $TOKEN";
  return [
    `curl -fsS -H "${credential}" \\`,
    `  "${origin}${path}/export?format=ndjson&proof=true" > log.ndjson`,
    ...(witnesses === null
      ? []
      : [`printf '%s\\n' ${witnesses.keys.map(shellLiteral).join(" ")} > witnesses.txt`]),
    `ostiary audit verify log.ndjson --owner ${shellLiteral(owner)}${optionsOf(witnesses)}`,
  ].join("\n");
}

function optionsOf(witnesses: WitnessSettings | null): string {
  return witnesses === null ? "" : ` --witness-keys witnesses.txt --quorum ${witnesses.quorum}`;
}
