/** The parsed fragment of a URL, such as `#/services/widgets?month=2026-11`. */
export interface PageAddress {
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

/** Parses a fragment. Returns null for an invalid percent escape, which a user may have typed. */
export function placeAt(fragment: string): PageAddress | null {
  const [path = "", ...query] = fragment.split("?");
  try {
    const segments = path
      .replace(/^#?\/?/, "")
      .split("/")
      .map(decodeURIComponent);
    return { segments, query: new URLSearchParams(query.join("?")) };
  } catch {
    return null;
  }
}

export function fragmentTo({
  segments,
  query,
}: {
  segments: readonly string[];
  query?: URLSearchParams;
}): string {
  const text = query?.toString() ?? "";
  return `#/${segments.map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
}
