import type { ErrorEnvelope } from "@ostiary/lib/domain/errors";

export interface RefusedOptions {
  /** The registry's error answer, or null when there was none. */
  envelope?: ErrorEnvelope | null;
  /** Whether the request was a write. */
  writing?: boolean;
}

/** A request that the registry refused or did not answer: exit code 1. */
export class Refused extends Error {
  readonly envelope: ErrorEnvelope | null;
  readonly writing: boolean;

  constructor(message: string, { envelope = null, writing = false }: RefusedOptions = {}) {
    super(message);
    this.name = "Refused";
    this.envelope = envelope;
    this.writing = writing;
  }
}

/** A mistake in the command line or its environment: exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

/** A review with effects that `--fail-on` names: exit code 3. */
export class Flagged extends Error {
  constructor() {
    super("The changes have an effect that --fail-on names.");
    this.name = "Flagged";
  }
}

/** A question that the given files do not answer: exit code 4. */
export class Undecided extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Undecided";
  }
}

/** A command that Ctrl-C ended: exit code 130. */
export class Interrupted extends Error {
  constructor() {
    super("Interrupted.");
    this.name = "Interrupted";
  }
}

/** Replaces variable names in an error's message, for a person who set a profile instead. */
export function inWordsOfProfile<Failure>(failure: Failure, profile: string | undefined): Failure {
  if (profile === undefined || !(failure instanceof Error)) return failure;
  failure.message = failure.message
    .replaceAll("REGISTRY_URL", `the url of the profile ${profile}`)
    .replaceAll("ADMIN_TOKEN", `the token of the profile ${profile}`);
  return failure;
}
