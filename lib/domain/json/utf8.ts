const withoutMark = new TextDecoder("utf-8", { fatal: true });
const withMark = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes bytes as UTF-8. Returns undefined for bytes that are not UTF-8.
 *
 * @param mark whether to drop or keep a byte order mark at the start
 */
export function tryUtf8(bytes: Uint8Array, mark: "drop" | "keep" = "drop"): string | undefined {
  try {
    return (mark === "keep" ? withMark : withoutMark).decode(bytes);
  } catch {
    return undefined;
  }
}
