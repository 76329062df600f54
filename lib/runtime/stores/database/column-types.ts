/** An element of an array's text. An unclosed quote matches too, to avoid backtracking. */
const element = /"((?:[^"\\]|\\.|\\$)*)(?:"|$)|([^,{}"]+)/gs;

/** The parsers and serializers for postgres.js. The doc comment of `rows` lists the resulting types. */
export const columnTypes = {
  int8: {
    to: 20,
    from: [20],
    parse: (text: string): number | bigint => {
      const value = Number(text);
      return Number.isSafeInteger(value) ? value : BigInt(text);
    },
    serialize: (value: unknown): string => String(value),
  },
  time: {
    to: 1184,
    from: [1082, 1083, 1114, 1184],
    parse: (text: string): string => text,
    serialize: (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value)),
  },
  json: {
    to: 114,
    from: [114, 3802],
    parse: (text: string): unknown => JSON.parse(text),
    serialize: (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value)),
  },
  texts: {
    to: 1009,
    from: [1009],
    parse: (text: string): (string | null)[] => Array.from(text.matchAll(element), elementOf),
    serialize: (value: unknown): string => String(value),
  },
};

function elementOf([, quoted, bare]: RegExpMatchArray): string | null {
  if (quoted !== undefined) return quoted.replace(/\\(.)/gs, "$1");
  return bare === undefined || bare === "NULL" ? null : bare;
}
