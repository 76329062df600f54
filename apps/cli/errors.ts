import type { ErrorEnvelope } from "@ostiary/lib/domain/errors";

/** The registry refused, or could not be asked: exit code 1. */
export class Refused extends Error {
  /** What the registry answered; null when it did not. */
  readonly envelope: ErrorEnvelope | null;

  constructor(message: string, envelope: ErrorEnvelope | null = null) {
    super(message);
    this.name = "Refused";
    this.envelope = envelope;
  }
}

/** The command line or its environment is wrong: exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

/** A review has what `--fail-on` names: exit code 3. */
export class Flagged extends Error {
  constructor() {
    super("The review has what --fail-on names.");
    this.name = "Flagged";
  }
}

/** Ctrl-C while a command ran: exit code 130. */
export class Interrupted extends Error {
  constructor() {
    super("Interrupted.");
    this.name = "Interrupted";
  }
}

/** Messages name the variables that they are about: in the words of one who set a profile instead. */
export function inWordsOfProfile<Failure>(failure: Failure, profile: string | undefined): Failure {
  if (profile === undefined || !(failure instanceof Error)) return failure;
  failure.message = failure.message
    .replaceAll("REGISTRY_URL", `the url of the profile ${profile}`)
    .replaceAll("ADMIN_TOKEN", `the token of the profile ${profile}`);
  return failure;
}
