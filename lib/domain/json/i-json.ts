import { endOfString } from "./outline.ts";
import { parseJson } from "./parse.ts";

/** The error for JSON that is not I-JSON (RFC 7493): its meaning depends on the parser. */
export class NotIJson extends Error {
  /** The names and indexes that lead to the wrong value, if they are known. */
  readonly path: readonly (string | number)[];

  constructor(message: string, path: readonly (string | number)[] = []) {
    super(message);
    this.path = path;
  }
}

/**
 * Parses JSON that has the same meaning in every parser: no duplicate names in an object, no number that loses digits
 * as a double, and only Unicode text.
 *
 * @throws SyntaxError, JsonTooDeep, NotIJson
 */
export function parseIJson(text: string, depthMax?: number): unknown {
  const value = parseJson(text, depthMax);
  const repeated = repeatedName(text, requireExact);
  if (repeated !== null) {
    throw new NotIJson(`an object has two members with the name ${shown(repeated)}`);
  }
  const isSuspect = SUSPECT.test(text) && (text.includes("\\u") || !isIJsonText(text));
  const path = isSuspect ? forbiddenIn(value) : null;
  if (path !== null)
    throw new NotIJson("a text or a name has half of a surrogate pair or a noncharacter", path);
  return value;
}

/** Matches a character that I-JSON forbids in texts and names. */
const FORBIDDEN = /[\p{Surrogate}\p{Noncharacter_Code_Point}]/u;
/** Matches each JSON text that has something forbidden, raw or escaped. Most other texts do not match. */
const SUSPECT = /\\u[dDfF]|[\ud800-\uffff]/;

/**
 * Returns whether I-JSON allows a text: without half of a surrogate pair, and without a noncharacter such as U+FFFE.
 */
export function isIJsonText(text: string): boolean {
  return !FORBIDDEN.test(text);
}

/** Returns the path to the first text that I-JSON forbids, or to the object with such a name. */
function forbiddenIn(value: unknown): (string | number)[] | null {
  if (typeof value === "string") return isIJsonText(value) ? null : [];
  if (typeof value !== "object" || value === null) return null;
  for (const [name, item] of Object.entries(value)) {
    if (!isIJsonText(name)) return [];
    const path = forbiddenIn(item);
    if (path !== null) return [Array.isArray(value) ? Number(name) : name, ...path];
  }
  return null;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const NUMBER = /-?[0-9][0-9.eE+-]*/y;
const SHOWN_LENGTH_MAX = 40;

/**
 * Returns the first name that occurs twice in one object of a JSON text, or null. Passes each number before that name
 * to `onNumber`. Takes linear time.
 */
export function repeatedName(text: string, onNumber: (number: string) => void = () => {}): string | null {
  const names = new OpenNames();
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      const end = endOfString(text, index);
      const repeated = names.repeatedBy(text, index, end);
      if (repeated !== null) return repeated;
      index = end;
    } else if (isNumberStart(code)) {
      NUMBER.lastIndex = index;
      const number = NUMBER.exec(text)?.[0] ?? "";
      onNumber(number);
      index += number.length - 1;
    } else names.pass(code);
  }
  return null;
}

function requireExact(number: string): void {
  if (isExact(number)) return;
  throw new NotIJson(`a double cannot represent the number ${shown(number)} exactly`);
}

/** The member names read so far in each object around the current position. */
class OpenNames {
  /** The names of each enclosing object, the innermost object last. An enclosing array is null. */
  readonly #open: (Set<string> | null)[] = [];
  #names: Set<string> | null = null;
  #nameIsNext = false;

  /** Reads a character that is outside of strings and numbers. */
  pass(code: number): void {
    if (code === COMMA) this.#nameIsNext = this.#names !== null;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      this.#names = code === OPEN_BRACE ? new Set() : null;
      this.#open.push(this.#names);
      this.#nameIsNext = this.#names !== null;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      this.#open.pop();
      this.#names = this.#open.at(-1) ?? null;
    }
  }

  /** Reads a string. Returns the string if it repeats a member name of its object, else null. */
  repeatedBy(text: string, start: number, end: number): string | null {
    if (!this.#nameIsNext || this.#names === null) return null;
    this.#nameIsNext = false;
    const name = nameOf(text, start, end);
    if (this.#names.has(name)) return name;
    this.#names.add(name);
    return null;
  }
}

function nameOf(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end);
  return raw.includes("\\") ? String(JSON.parse(text.slice(start, end + 1))) : raw;
}

function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text);
}

function isNumberStart(code: number): boolean {
  return code === 0x2d || (code >= 0x30 && code <= 0x39);
}

/** The number of characters up to which a double represents every integer exactly. */
const SAFE_LENGTH = 15;
const WHOLE = /^-?[0-9]+$/;

function isExact(number: string): boolean {
  if (number.length <= SAFE_LENGTH && WHOLE.test(number)) return true;
  const double = Number(number);
  return Number.isFinite(double) && decimal(String(double)) === decimal(number);
}

/**
 * Returns a canonical form of a number: its significant digits and power of ten. All spellings of a value,
 * such as `1.50` and `15e-1`, have the same canonical form.
 */
function decimal(number: string): string {
  const sign = number.startsWith("-") ? "-" : "";
  const [mantissa = "", exponent = "0"] = number.slice(sign.length).split(/[eE]/);
  const [whole = "", fraction = ""] = mantissa.split(".");
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.slice(0, lastNonZero(digits) + 1);
  if (significant === "") return "0";
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  return `${sign}${significant}e${power}`;
}

/** Returns the index of the last digit that is not zero, or -1 if all digits are zero. */
function lastNonZero(digits: string): number {
  let index = digits.length - 1;
  while (digits[index] === "0") index -= 1;
  return index;
}
