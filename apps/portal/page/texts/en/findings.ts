import { ENGLISH, type FindingWords } from "@ostiary/lib/verification/findings";

/** The sentences of `audit verify`. Sentences that name an option of the command line are replaced. */
export const findings: FindingWords = {
  ...ENGLISH,
  kept_checkpoint_unconnected: ({ checkpoint, newest, missing }) =>
    `The files do not show whether checkpoint ${newest} continues the kept checkpoint ${checkpoint}: checkpoint ${missing} is missing. Choose a file with all checkpoints between them.`,
  kept_root_unconnected: ({ size, newest }) =>
    `The files do not show whether the tree of ${newest} checkpoints continues the kept root of ${size}. Choose a checkpoint or an export that you kept.`,
};
