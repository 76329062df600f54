import { USAGE_ID_LENGTH_MAX } from "@ostiary/lib/contracts/usage";

/** Returns whether the audit service accepts an id. Ids come from identity and can have any form. */
export function isCountable(id: string | null): id is string {
  return (
    id !== null && id !== "" && id.length <= USAGE_ID_LENGTH_MAX && !id.includes("\0") && id.isWellFormed()
  );
}
