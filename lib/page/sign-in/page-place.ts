/** The URL and the storage prefix of a page that signs people in. */
export interface PagePlace {
  readonly origin: string;
  /** The path of the page, such as `/portal`. */
  readonly path: string;
  /** The prefix of the page's keys in `sessionStorage`, such as `ostiary.portal`. */
  readonly storage: string;
}

/** Replaces the URL, so that no code, state or token stays in the address bar or the history. */
export function cleanAddress({ path }: PagePlace, fragment: string): void {
  history.replaceState(null, "", `${path}${fragment}`);
}
