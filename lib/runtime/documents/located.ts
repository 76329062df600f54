/** The place of a field or an item in a text, with the places of its parts. */
export interface Located {
  /** The offset of a field's key. For an item of a list, and for the whole text, the offset of the value. */
  readonly offset: number;
  /** The fields of a map by key, or the items of a list by index. */
  readonly parts: ReadonlyMap<string | number, Located>;
}
