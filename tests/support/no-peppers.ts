import type { Peppers } from "@ostiary/identity/secret-hashes";

/** The peppers of an identity service that has none, as it starts without variables. */
export const NO_PEPPERS: Peppers = { current: null, previous: null, plain_accepted: true };
