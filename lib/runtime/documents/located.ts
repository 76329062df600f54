/** The place of a field or an item in a text, with the places of its parts. */
export interface Located {
  /** The offset of the key, or of the value in a list and at the top. */
  readonly offset: number;
  /** The fields of a map by key, or the items of a list by index. */
  readonly parts: ReadonlyMap<string | number, Located>;
}
