/** The error for a run that cannot start on this machine. The message says what is missing or wrong. */
export class RunImpossible extends Error {
  override readonly name = "RunImpossible";
}
