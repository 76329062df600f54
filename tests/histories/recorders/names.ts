/** Returns a name that no other object has. */
export function newName(kind: string): string {
  return `${kind}-${crypto.randomUUID()}`;
}
