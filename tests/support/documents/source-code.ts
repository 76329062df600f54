/** A string, a template, a text between JSX tags, or a comment, as the code spells it. */
export interface Written {
  /** The text, with `…` for each `${…}`. */
  readonly text: string;
  /** The position of the text in the code. */
  readonly index: number;
}

/** A regular expression. */
export interface SourcePattern {
  readonly source: string;
  readonly flags: string;
}

/** The texts of a file of TypeScript code. */
export interface SourceTexts {
  /** The strings and templates, except templates with a tag, such as SQL. */
  readonly strings: readonly Written[];
  /** Each comment as the code spells it. Each `//` is a comment. */
  readonly comments: readonly Written[];
  /** The literal regular expressions. */
  readonly patterns: readonly SourcePattern[];
}

/** The parts of code that decide where strings start and end. Each capturing group is the text of a string. */
const TOKENS = [/\/\*.*?\*\/|\/\/[^\n]*/, /"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'/, /[`{}/]/];
/** Matches a text between JSX tags. In formatted code, a space precedes the operator `>`, but not the `>` of a tag. */
const JSX_TEXT = /(?<=[^\s=]>|\})([^<>{}`"=;*]*[a-z][^<>{}`"=;*]*)(?=\{|<[/A-Za-z])/;
const TOKEN = anyOf(TOKENS);
const JSX_TOKEN = anyOf([JSX_TEXT, ...TOKENS]);
/** Matches the rest of a template, up to its end or the next `${`. */
const TEMPLATE_PART = /((?:[^`\\$]|\\.|\$(?!\{))*)(`|\$\{)/gs;
/** Matches code after which a slash starts a regular expression and is not a division. */
const BEFORE_PATTERN = /(?:^|[(,=:[!&|?{};>+]|\breturn|\bcase)$/;
/** Matches the rest of a regular expression after its first slash. */
const PATTERN_REST = /((?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([a-z]*)/y;
/** The length of the code before a slash that decides what the slash means. */
const CONTEXT_LENGTH = 8;

/** Returns the texts of TypeScript code. In a file of JSX, the texts between tags are strings. */
export function textsIn(path: string, code: string): SourceTexts {
  const reader = new CodeReader(code, path.endsWith(".tsx") ? JSX_TOKEN : TOKEN);
  while (!reader.ended) reader.readCode();
  return reader;
}

class CodeReader implements SourceTexts {
  readonly strings: Written[] = [];
  readonly comments: Written[] = [];
  readonly patterns: SourcePattern[] = [];
  readonly #code: string;
  readonly #token: RegExp;
  #at = 0;
  /** The last characters of the code before the last comment. */
  #beforeComment = "";

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
      else if (/^\/[/*]/.test(token)) this.#addComment(token, index);
      else if (token === "`") this.#readTemplate();
      else if (token === "/") this.#readPattern(index);
      else if (token === "{") depth++;
      else if (token === "}") depth--;
    }
  }

  #addComment(text: string, index: number): void {
    this.#beforeComment = this.#codeBefore(index);
    this.comments.push({ text, index });
  }

  #readTemplate(): void {
    const index = this.#at;
    const hasTag = /[\w>)\]]/.test(this.#code.charAt(index - 2));
    let text = "";
    while (!this.ended) {
      const [, part = "", end] = this.#next(TEMPLATE_PART);
      text += part;
      if (end !== "${") break;
      text += "…";
      this.readCode();
    }
    if (!hasTag) this.strings.push({ text, index });
  }

  #readPattern(index: number): void {
    if (!BEFORE_PATTERN.test(this.#codeBefore(index))) return;
    PATTERN_REST.lastIndex = this.#at;
    const match = PATTERN_REST.exec(this.#code);
    if (match === null) return;
    const [, source = "", flags = ""] = match;
    this.patterns.push({ source, flags });
    this.#at = PATTERN_REST.lastIndex;
  }

  /** Returns the last characters of the code before `index`, without comments and spaces at their end. */
  #codeBefore(index: number): string {
    const last = this.comments.at(-1);
    const commentEnd = last === undefined ? 0 : last.index + last.text.length;
    const code = this.#code.slice(commentEnd, index).trimEnd();
    return code === "" ? this.#beforeComment : code.slice(-CONTEXT_LENGTH);
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
