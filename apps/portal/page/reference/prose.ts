/** A piece of a text: plain, emphasized, code, or a line break. */
export interface Piece {
  readonly kind: "text" | "strong" | "code" | "break";
  readonly text: string;
}

const MARKED =
  /\*\*(?<strong>[^*\n]+)\*\*|`(?<code>[^`\n]+)`|\[(?<link>[^\]\n]+)\]\([^)\s]*\)|(?<end> {2,}\n|\n(?=[-*] ))/g;

/**
 * Returns the paragraphs of a description, whose texts are Markdown. Only emphasis, code, line breaks and the
 * words of links are read. Everything else, such as HTML, stays plain text.
 */
export function proseOf(text: string): Piece[][] {
  return text
    .split(/\n\s*\n/)
    .filter((paragraph) => paragraph.trim() !== "")
    .map(piecesOf);
}

function piecesOf(paragraph: string): Piece[] {
  const pieces: Piece[] = [];
  const add = (kind: Piece["kind"], text: string) => {
    if (text !== "") pieces.push({ kind, text });
  };
  let at = 0;
  for (const match of paragraph.matchAll(MARKED)) {
    add("text", paragraph.slice(at, match.index));
    const { strong, code, link } = match.groups ?? {};
    if (strong !== undefined) add("strong", strong);
    else if (code !== undefined) add("code", code);
    else if (link !== undefined) add("text", link);
    else add("break", "\n");
    at = match.index + match[0].length;
  }
  add("text", paragraph.slice(at));
  return pieces;
}

/** Returns a description without its Markdown, for a place that shows only plain text. */
export function plainOf(text: string): string {
  return proseOf(text)
    .map((pieces) => pieces.map((piece) => piece.text).join(""))
    .join(" ");
}
