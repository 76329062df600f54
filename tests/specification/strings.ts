/** A string, a template, a text between JSX tags, or a comment, as the code spells it. */
export interface Written {
  /** The text, with `value` for each `${…}`. */
  readonly text: string;
  /** The position of the text in the code. */
  readonly index: number;
}

/**
 * The parts of TypeScript code that decide where strings start and end. Each capturing group is the text of a
 * string.
 */
const TOKENS = [
  /\/\*.*?\*\/|\/\/[^\n]*/, // a comment
  /(?<=(?:[(,=:[!&|?{};>]|\breturn)\s*)\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//, // a regular expression
  /"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'/,
  /[`{}]/,
];
/** Matches a text between JSX tags. In formatted code, a space precedes the operator `>`, but not the `>` of a tag. */
const JSX_TEXT = /(?<=[^\s=]>|\})([^<>{}`"=;*]*[a-z][^<>{}`"=;*]*)(?=\{|<[/A-Za-z])/;
const TOKEN = anyOf(TOKENS);
const JSX_TOKEN = anyOf([JSX_TEXT, ...TOKENS]);
/** Matches the rest of a template, up to its end or the next `${`. */
const TEMPLATE_PART = /((?:[^`\\$]|\\.|\$(?!\{))*)(`|\$\{)/gs;

/** Returns the texts in a file of TypeScript code, except templates with a tag, such as SQL. */
export function stringsIn(path: string, code: string): readonly Written[] {
  return read(path, code).strings;
}

/** Returns the comments in a file of TypeScript code, as the code spells them. Each `//` is a comment. */
export function commentsIn(path: string, code: string): readonly Written[] {
  return read(path, code).comments;
}

function read(path: string, code: string): CodeReader {
  const reader = new CodeReader(code, path.endsWith(".tsx") ? JSX_TOKEN : TOKEN);
  while (!reader.ended) reader.readCode();
  return reader;
}

class CodeReader {
  readonly strings: Written[] = [];
  readonly comments: Written[] = [];
  readonly #code: string;
  readonly #token: RegExp;
  #at = 0;

  constructor(code: string, token: RegExp) {
    this.#code = code;
    this.#token = token;
  }

  get ended(): boolean {
    return this.#at >= this.#code.length;
  }

  /** Reads code, up to its end or the brace that ends a `${…}`. */
  readCode(): void {
    for (let depth = 0; depth >= 0 && !this.ended; ) {
      const [token = "", ...texts] = this.#next(this.#token);
      const text = texts.find((each) => each !== undefined);
      const index = this.#at - token.length;
      if (text !== undefined) this.strings.push({ text, index });
      else if (/^\/[/*]/.test(token)) this.comments.push({ text: token, index });
      else if (token === "`") this.#readTemplate();
      else if (token === "{") depth++;
      else if (token === "}") depth--;
    }
  }

  #readTemplate(): void {
    const index = this.#at;
    const hasTag = /[\w>)\]]/.test(this.#code.charAt(index - 2));
    let text = "";
    while (!this.ended) {
      const [, part = "", end] = this.#next(TEMPLATE_PART);
      text += part;
      if (end !== "${") break;
      text += "value";
      this.readCode();
    }
    if (!hasTag) this.strings.push({ text, index });
  }

  /** Returns the next match, and moves behind it. Moves to the end if there is none. */
  #next(pattern: RegExp): readonly (string | undefined)[] {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#code);
    this.#at = match === null ? this.#code.length : pattern.lastIndex;
    return match ?? [];
  }
}

function anyOf(patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join("|"), "gs");
}
