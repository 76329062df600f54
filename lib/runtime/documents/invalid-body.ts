import { type ApiError, validationError } from "../../domain/errors/index.ts";

const LINE_BREAK = 0x0a;

/** A position in a text. Lines and columns count from 1, and columns count UTF-16 code units. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Returns the 422 for a body that cannot be parsed as a configuration. */
export function invalidBody(message: string): ApiError {
  return validationError([{ path: "", message }]);
}

/** Returns a text such as ` at line 3, column 5`, or an empty text if the offset is unknown. */
export function placeOf(offset: number | undefined, text: string): string {
  if (offset === undefined || offset < 0) return "";
  const { line, column } = placeAt(offset, text);
  return ` at line ${line}, column ${column}`;
}

/** Returns the line and column of an offset in a text. */
export function placeAt(offset: number, text: string): Place {
  let line = 1;
  let start = 0;
  for (let index = 0; index < offset; index++) {
    if (text.charCodeAt(index) !== LINE_BREAK) continue;
    line++;
    start = index + 1;
  }
  return { line, column: offset - start + 1 };
}

const STATED = / at line (\d+), column (\d+)/;

/**
 * Splits a message into the position that {@link placeOf} added and the rest. The position is null if the
 * message has none.
 */
export function statedPlace(message: string): { place: Place | null; rest: string } {
  const [stated = "", line, column] = STATED.exec(message) ?? [];
  if (stated === "") return { place: null, rest: message };
  return { place: { line: Number(line), column: Number(column) }, rest: message.replace(stated, "") };
}
