import type { Peppers } from "@ostiary/identity/secret-hashes";

/** The peppers of an identity service whose environment sets none. */
export const NO_PEPPERS: Peppers = { current: null, previous: null, plainAccepted: true };
