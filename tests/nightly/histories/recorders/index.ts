import { FeedRecorder } from "./feed.ts";
import { recordInvites } from "./invites.ts";
import { recordLimits } from "./limits.ts";
import { recordOwners } from "./owners.ts";
import { recordOwnership } from "./ownership.ts";
import type { Recorder } from "./recorder.ts";
import { recordRevisions } from "./revisions.ts";
import { recordRotation } from "./rotation.ts";

/** Returns new recorders for one run of the system, in the order of the table of results. */
export function newRecorders(): readonly Recorder[] {
  return [
    recordRevisions,
    recordOwnership,
    recordInvites,
    recordOwners,
    recordRotation,
    recordLimits,
    new FeedRecorder(),
  ];
}
