/** The input and output of the command line. */
export interface Terminal {
  write(text: string): void;
  writeError(text: string): void;
  /** Reads all of standard input, once. */
  readInput(): Promise<Uint8Array<ArrayBuffer>>;
  /** Asks the person for a line. Null if standard input or standard error is not a terminal. */
  ask: ((question: string) => Promise<string>) | null;
  /** Whether standard output is a terminal that shows colors. */
  colors: boolean;
  /** Whether standard error is a terminal, where a line can be overwritten. */
  progress: boolean;
  /** The signal that Ctrl-C aborts. */
  interruption: AbortSignal;
}

/**
 * Replaces the characters with which untrusted text could control the terminal, or show its parts in another order.
 * Keeps line breaks and tabs.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (each) => (/[\n\t]/.test(each) ? each : "\u{fffd}"));
}

/** Returns a value as JSON. Escapes the characters that {@link printable} replaces. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(
    /[\x7f-\x9f\p{Bidi_Control}]/gu,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Works like {@link printable}, but replaces line breaks and tabs too, for text that must stay on one line. */
export function onOneLine(text: string): string {
  return printable(text).replace(/[\n\t]/g, "\u{fffd}");
}
