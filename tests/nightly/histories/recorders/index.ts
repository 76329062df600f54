import { recordLimits } from "./limits.ts";
import { recordOwners } from "./owners.ts";
import type { Recorder } from "./recorder.ts";
import { recordRevisions } from "./revisions.ts";
import { recordRotation } from "./rotation.ts";

/** All recorders, in the order of the table of results. */
export const RECORDERS: readonly Recorder[] = [recordRevisions, recordOwners, recordRotation, recordLimits];
