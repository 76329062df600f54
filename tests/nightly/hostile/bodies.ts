/** Hostile request bodies. Each key describes what is wrong with the body. */
type HostileBodies = Record<string, string | Uint8Array<ArrayBuffer>>;

/** Repeats `unit` between `start` and `end`, as often as `size` characters allow. */
export function repeated(size: number, unit: string, start = "", end = ""): string {
  return start + unit.repeat(Math.floor((size - start.length - end.length) / unit.length)) + end;
}

/** Joins as many results of `part` as fit into `size` characters. `part` gets a running number. */
export function numbered(
  size: number,
  part: (n: number) => string,
  start = "",
  end = "",
  separator = ",",
): string {
  const parts: string[] = [];
  let left = size - start.length - end.length;
  for (let n = 0; ; n++) {
    const next = part(n);
    left -= next.length + separator.length;
    if (left < 0) return start + parts.join(separator) + end;
    parts.push(next);
  }
}

/** Returns JSON lists nested as deep as `size` characters allow. */
export function deep(size: number, inside = ""): string {
  const depth = Math.floor((size - inside.length) / 2);
  return "[".repeat(depth) + inside + "]".repeat(depth);
}

/** Returns JSON lists nested 64 levels deep. The innermost has as many elements as `size` allows. */
export function deepAndWide(size: number): string {
  return repeated(size, "0,", "[".repeat(64), `0${"]".repeat(64)}`);
}

/** Returns bodies of about `size` bytes that every operation must refuse. */
export function hostileBodies(size: number): HostileBodies {
  return {
    "deep list": deep(size),
    "deep object": `${'{"a":'.repeat(size / 8)}1${"}".repeat(size / 8)}`,
    "deep unknown field": `{"x":${deep(size - 6)}}`,
    "deep and wide unknown field": `{"x":${deepAndWide(size - 6)}}`,
    "30 000 open brackets": "[".repeat(30_000),
    "many unknown fields": numbered(size, (n) => `"k${n}":1`, "{", "}"),
    "many of one name": numbered(size, () => '"name":1', "{", "}"),
    "many __proto__": numbered(size, () => '"__proto__":{"a":1}', "{", "}"),
    "names with slashes": numbered(size, (n) => `"${"~/".repeat(20)}${n}":1`, "{", "}"),
    "a long name": `{"${"n".repeat(size - 6)}":1}`,
    "a long list": repeated(size, "0,", "[", "0]"),
    "a long string": `"${"s".repeat(size - 2)}"`,
    "a long number": "9".repeat(size),
    "not JSON at its end": numbered(size, (n) => `"k${n}":1`, "{", "]"),
    "an open string": `{"a":"${"\\\\".repeat((size - 6) / 2)}`,
    "white space": " ".repeat(size),
    "white space in JSON": `{${" ".repeat(size - 4)}x}`,
    NUL: "\0".repeat(size),
    "not UTF-8": new Uint8Array(size).fill(0xff),
    "too large": "1".repeat(size + 1),
  };
}

/** Returns JSON values of about `size` bytes. Each is invalid for some fields and valid for others. */
export function hostileFields(size: number): HostileBodies {
  const room = size - 100;
  return {
    "8 000 levels": deep(Math.min(room, 16_000)),
    "64 levels, wide": deepAndWide(room).slice(1, -1),
    spaces: JSON.stringify(" ".repeat(room)),
    "spaces around a character": JSON.stringify(`${" ".repeat(room / 2)}x${" ".repeat(room / 2 - 1)}`),
    "spaces in front of a control character": JSON.stringify(`x${" ".repeat(room - 10)}\u0001`),
    "a long text": JSON.stringify("x".repeat(room)),
    "a long text of pairs": JSON.stringify("🚪".repeat(room / 4)),
    "halves of pairs": repeated(room, "\\ud800", '"', '"'),
    escapes: repeated(room, "\\u0000", '"', '"'),
    "a long number": `-${"9".repeat(room)}`,
    "a wide object": numbered(room, (n) => `"k${n}":{}`, "{", "}"),
    "a long list": numbered(room, (n) => `"${n}"`, "[", "]"),
    "a list of lists": repeated(room, "[[]],", "[", "[]]"),
  };
}

/** Values for a query string, a path or a header, about as long as a request head may be. */
export const HOSTILE_TEXTS: Record<string, string> = {
  long: "a".repeat(8_000),
  digits: "9".repeat(8_000),
  escapes: "%F0%9F%9A%AA".repeat(600),
  spaces: `x${"%20".repeat(2_500)}x`,
  "half an escape": `${"%41".repeat(2_000)}%4`,
  NUL: "%00".repeat(2_500),
  commas: ",".repeat(8_000),
  dots: ".".repeat(8_000),
};
