/** The request headers in which an operator gives the reason for a write and a link (RG-119). */
export const REASON_HEADER = "X-Change-Reason";
export const LINK_HEADER = "X-Change-Link";

export const REASON_LENGTH_MAX = 512;
export const LINK_LENGTH_MAX = 2_048;

/** Returns whether the registry accepts a text as the link of a write. */
export function isChangeLink(text: string): boolean {
  if (text.length > LINK_LENGTH_MAX || !/^https?:\/\/[\x21-\x7e]+$/i.test(text)) return false;
  const url = URL.parse(text);
  return url !== null && url.username === "" && url.password === "";
}

/** The unchecked reason and link of a write, as a client sends them. */
export interface GivenNote {
  readonly reason?: string;
  readonly link?: string;
}

export function changeNoteHeaders({ reason = "", link = "" }: GivenNote): Record<string, string> {
  return {
    ...(reason.trim() !== "" && { [REASON_HEADER]: asBytes(reason) }),
    ...(link.trim() !== "" && { [LINK_HEADER]: asBytes(link) }),
  };
}

/** Encodes a text as a header value: one character for each byte of its UTF-8 form, as `fetch` expects. */
function asBytes(text: string): string {
  const bytes = new TextEncoder().encode(text.replace(/\p{Cc}+/gu, " "));
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}
