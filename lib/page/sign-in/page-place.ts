/** The path and the storage prefix of a page that signs people in. */
export interface PagePlace {
  readonly origin: string;
  /** The path of the page, such as `/portal`. */
  readonly path: string;
  /** The beginning of the page's keys in the storage of a tab, such as `ostiary.portal`. */
  readonly storage: string;
}

/** Replaces the whole address, so that no code, state or token stays in it or in the history. */
export function cleanAddress({ path }: PagePlace, fragment: string): void {
  history.replaceState(null, "", `${path}${fragment}`);
}
