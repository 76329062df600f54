/** Returns the owner of a chain in the form that heads use. */
export function ownerOf(kind: "organization" | "user", id: string): string {
  return `${kind}:${id}`;
}
