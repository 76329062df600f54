import type { Peppers } from "@ostiary/identity/secret-hashes";

export const NO_PEPPERS: Peppers = { current: null, previous: null, plainAccepted: true };
