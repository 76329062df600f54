/** Returns the owner of a chain in the form that heads use. */
export function ownerOf(kind: "organization" | "user", id: string): string {
  return `${kind}:${id}`;
}

/** Says what a person has to give whose text is not an owner. */
export const OWNER_RULE = "Give organization: or user:, followed by the id.";

/** Whether a text is the owner of a chain. An id may have any characters, also line breaks. */
export function isOwner(text: string): boolean {
  return /^(?:organization|user):./s.test(text);
}
