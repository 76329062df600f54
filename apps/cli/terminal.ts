/** What the command line reads from and writes to. */
export interface Terminal {
  write(text: string): void;
  writeError(text: string): void;
  /** Everything on standard input, once. */
  readInput(): Promise<Uint8Array>;
  /** Asks whoever sits at the terminal for a line; null where nobody does. */
  ask: ((question: string) => Promise<string>) | null;
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

/** Text for a terminal that shows ASCII alone: other characters by their numbers. */
export function inAscii(text: string): string {
  return text.replace(/[^\p{ASCII}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Whether the locale's characters are ASCII's, or those of one country: what says nothing shows all of them. */
export function isAsciiLocale(env: Readonly<Record<string, string | undefined>>): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG;
  return locale !== undefined && locale !== "" && !/utf-?8/i.test(locale);
}
