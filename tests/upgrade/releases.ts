/** A release of the product. */
export interface Release {
  readonly version: string;
  /** The commit of the release in this repository. */
  readonly revision: string;
  /** Whether the release can seal and prove a log that a newer version has sealed (CHANGELOG, Going back). */
  readonly continuesProof: boolean;
  /** Whether all services of the release drain their requests before they close a port (CHANGELOG, Fixed). */
  readonly drainsAll: boolean;
}

/** Every release, from oldest to newest. Add each new release here. */
export const RELEASES: readonly [Release, ...Release[]] = [
  {
    version: "0.1.0",
    revision: "7f44eb56d1a5a72d0510560484c9ba607f8908c1",
    continuesProof: false,
    drainsAll: false,
  },
  {
    version: "0.2.0",
    revision: "5f4624bde0df8ffe0f7a061a68bc64fdf2c508a7",
    continuesProof: false,
    drainsAll: false,
  },
];

/** The version name of the working tree, which will become the next release. */
export const WORKING_TREE = "tree";
