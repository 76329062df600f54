/** A string, template or text between JSX tags, as it is written in the code. */
interface Written {
  /** The text, in which `value` stands for each `${…}`. */
  readonly text: string;
  /** The position of the first character in the code. */
  readonly start: number;
}

/**
 * Matches whatever decides where strings start and end in TypeScript code: a comment, a regular expression, a
 * string, a text between JSX tags, a brace or a backtick. Formatted code has a space before `>` as an operator.
 */
const TOKEN = new RegExp(
  [
    /\/\*.*?\*\/|\/\/[^\n]*/,
    /(?<=(?:[(,=:[!&|?{};>]|\breturn)\s*)\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//,
    /"(?<double>(?:[^"\\\n]|\\.)*)"|'(?<single>(?:[^'\\\n]|\\.)*)'/,
    /(?<=[^\s=]>|\})(?<between>[^<>{}`"=;]*[a-z][^<>{}`"=;]*)(?=\{|<\/|<[A-Z])/,
    /[`{}]/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "gs",
);

/** Matches the rest of a template up to its end or its next `${`. */
const TEMPLATE_PART = /(?<part>(?:[^`\\$]|\\.|\$(?!\{))*)(?<end>`|\$\{)/gs;

/** Returns the strings in TypeScript code, without templates that have a tag, such as SQL. */
export function stringsIn(code: string): Written[] {
  const found: Written[] = [];
  /** Reads code up to the brace that ends it, and returns the position after that brace. */
  const readCode = (start: number): number => {
    let depth = 0;
    for (const { 0: token, index, groups = {} } of matchesFrom(TOKEN, code, start)) {
      const text = groups.double ?? groups.single ?? groups.between;
      if (text !== undefined) found.push({ text, start: code.indexOf(text, index) });
    }
    return depth;
  };
  return found;
}
