import type { Peppers } from "../../apps/identity/secret-hashes.ts";

export const NO_PEPPERS: Peppers = { current: null, previous: null, plainAccepted: true };
