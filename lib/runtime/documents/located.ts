/** The position of a value in a text, with the positions of the value's fields or items. */
export interface Located {
  /**
   * The offset of a field's key. For an item of a list and for the whole text, it is the offset of the value.
   */
  readonly offset: number;
  /** The fields of a map by key, or the items of a list by index. */
  readonly parts: ReadonlyMap<string | number, Located>;
}
