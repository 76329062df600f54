import { integer, optionalText } from "@ostiary/lib/runtime/config";

/** The environment variables of witnesses (AU-170). */
export const witnessVariables = {
  AUDIT_WITNESSES_FILE: optionalText("must be the path of a file of witnesses", {
    description:
      "YAML with the name, url and key of each witness that cosigns the signed roots of the log. Read at start. Needs AUDIT_SIGNING_KEY_FILE.",
  }),
  AUDIT_WITNESS_QUORUM: integer(
    1,
    1,
    32,
    "The number of witnesses that must cosign a root before readers get it.",
  ),
  AUDIT_WITNESS_INTERVAL_MS: integer(
    5_000,
    100,
    3_600_000,
    "The pause between two rounds in which witnesses are asked to cosign the newest root.",
  ),
};
