/** What the command line reads from and writes to. */
export interface Terminal {
  write(text: string): void;
  writeError(text: string): void;
  /** Everything on standard input, once. */
  readInput(): Promise<Uint8Array>;
  /** Whether standard output is a terminal that shows colours. */
  colours: boolean;
  /** Whether standard error is a terminal, where a line may be written over. */
  progress: boolean;
  /** Ctrl-C. */
  interruption: AbortSignal;
}

/**
 * Text from elsewhere without what could steer a terminal: control characters, but line breaks and tabs,
 * become the replacement character.
 */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, "\u{fffd}");
}
