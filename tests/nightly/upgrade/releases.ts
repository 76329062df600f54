export interface Release {
  readonly version: string;
  /** The commit of the release in this repository. */
  readonly revision: string;
}

/** Every release since 1.0.0, from oldest to newest. Add each release here once it has a commit. */
export const RELEASES: readonly Release[] = [];

/** The version name of the working tree, which will become the next release. */
export const WORKING_TREE = "tree";
