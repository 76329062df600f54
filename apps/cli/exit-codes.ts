import type { ErrorEnvelope } from "@ostiary/lib/domain/errors";

export const EXIT_OK = 0;
export const EXIT_USAGE = 2;

interface RefusedOptions {
  /** The registry's error response, or null if there was none. */
  envelope?: ErrorEnvelope | null;
  /** Whether the request was a write. */
  writing?: boolean;
}

/** An error that ends a command, with the exit code. */
export abstract class CommandFailure extends Error {
  abstract readonly exitCode: number;
}

/** A request that the registry refused, or to which it did not respond. */
export class Refused extends CommandFailure {
  readonly exitCode = 1;
  readonly envelope: ErrorEnvelope | null;
  readonly writing: boolean;

  constructor(message: string, { envelope = null, writing = false }: RefusedOptions = {}) {
    super(message);
    this.envelope = envelope;
    this.writing = writing;
  }
}

/** A mistake in the command line or its environment. */
export class UsageError extends CommandFailure {
  readonly exitCode = EXIT_USAGE;
}

/** A review with an effect that `--fail-on` names. */
export class Flagged extends CommandFailure {
  readonly exitCode = 3;
}

/** A check that the given files cannot decide. */
export class Undecided extends CommandFailure {
  readonly exitCode = 4;
}

/** A command that Ctrl-C ended. Its exit code is 130, as for any program that Ctrl-C ends. */
export class Interrupted extends CommandFailure {
  override readonly name = "Interrupted";
  readonly exitCode = 130;
  override readonly message = "Interrupted.";
}
