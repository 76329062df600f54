import { ApiError } from "../../domain/errors/index.ts";

const LINE_BREAK = 0x0a;

/** A position in a text. Lines and columns count from 1, and columns count UTF-16 code units. */
export interface TextPosition {
  readonly line: number;
  readonly column: number;
}

export type TextKind = "body" | "file";

/** A message in two parts. The place stands between them: `The key` and ` must be a string.` */
type MessageParts = readonly [before: string, after: string];

/** The 422 for a text that cannot be parsed. Callers that show the place in another way use `place` and `parts`. */
export class InvalidText extends ApiError {
  /** Null if the error concerns the whole text. */
  readonly place: TextPosition | null;
  readonly parts: MessageParts;

  constructor(parts: MessageParts, place: TextPosition | null) {
    const stated = place === null ? "" : ` at line ${place.line}, column ${place.column}`;
    const message = parts.join(stated);
    super("VALIDATION_ERROR", { message, details: { fields: [{ path: "", message }] } });
    this.parts = parts;
    this.place = place;
  }
}

export function invalidText(message: string): InvalidText {
  return new InvalidText([message, ""], null);
}

/** A negative offset is unknown. */
export function invalidAt(text: string, offset: number, ...parts: MessageParts): InvalidText {
  return new InvalidText(parts, offset < 0 ? null : placeAt(offset, text));
}

/** The 422 for a text that breaks the grammar at `offset`. */
export function invalidYaml(text: string, offset: number, why?: string): InvalidText {
  return invalidAt(text, offset, "The YAML is not valid", why === undefined ? "." : `: ${why}.`);
}

export function placeAt(offset: number, text: string): TextPosition {
  let line = 1;
  let start = 0;
  for (let index = 0; index < offset; index++) {
    if (text.charCodeAt(index) !== LINE_BREAK) continue;
    line++;
    start = index + 1;
  }
  return { line, column: offset - start + 1 };
}
