import type { ErrorEnvelope } from "@ostiary/lib/domain/errors";

export interface RefusedOptions {
  /** The registry's error answer, or null when there was none. */
  envelope?: ErrorEnvelope | null;
  /** Whether the request was a write. */
  writing?: boolean;
}

/** A request that the registry refused or did not answer: exit code 1. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly envelope: ErrorEnvelope | null;
  readonly writing: boolean;

  constructor(message: string, { envelope = null, writing = false }: RefusedOptions = {}) {
    super(message);
    this.envelope = envelope;
    this.writing = writing;
  }
}

/** A mistake in the command line or its environment: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A review with effects that `--fail-on` names: exit code 3. */
export class Flagged extends Error {
  override readonly name = "Flagged";
  override readonly message = "The changes have an effect that --fail-on names.";
}

/** A question that the given files do not answer: exit code 4. */
export class Undecided extends Error {
  override readonly name = "Undecided";
}

/** A command that Ctrl-C ended: exit code 130. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  override readonly message = "Interrupted.";
}

/** Replaces variable names in an error's message, for a person who set a profile instead. */
export function inWordsOfProfile<Failure>(failure: Failure, profile: string | undefined): Failure {
  if (profile === undefined || !(failure instanceof Error)) return failure;
  failure.message = failure.message
    .replaceAll("REGISTRY_URL", `the url of the profile ${profile}`)
    .replaceAll("ADMIN_TOKEN", `the token of the profile ${profile}`);
  return failure;
}
