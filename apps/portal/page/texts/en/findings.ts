import { ENGLISH, type FindingWords } from "@ostiary/lib/verification/words";

/** The sentences of the command line, except that sentences about command-line options are replaced. */
export const findings: FindingWords = {
  ...ENGLISH,
  kept_checkpoint_unconnected: ({ checkpoint, newest, missing }) =>
    `Nothing here leads from checkpoint ${checkpoint}, which was kept, to ${newest}: checkpoint ${missing} is missing, so the files do not show whether the log continues from ${checkpoint}. Give a file with all checkpoints between them.`,
  kept_root_unconnected: ({ size, newest }) =>
    `Nothing here leads from the root of ${size} checkpoints, which was kept, to the tree of ${newest}. Give a checkpoint or an export that was kept.`,
};
