export function newName(kind: string): string {
  return `${kind}-${crypto.randomUUID()}`;
}
