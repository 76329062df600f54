/** A release, by the commit of this repository that it is. */
export interface Release {
  readonly version: string;
  readonly revision: string;
  /** Whether it seals a log that a newer version has sealed, and proves it (CHANGELOG, Going back). */
  readonly continues_proof: boolean;
  /** Whether each of its services closes its port at a moment without requests (CHANGELOG, Fixed). */
  readonly drains_all: boolean;
}

/** Every release, the oldest first. A release gets its line here when it is made. */
export const RELEASES: readonly [Release, ...Release[]] = [
  {
    version: "0.1.0",
    revision: "7f44eb56d1a5a72d0510560484c9ba607f8908c1",
    continues_proof: false,
    drains_all: false,
  },
  {
    version: "0.2.0",
    revision: "5f4624bde0df8ffe0f7a061a68bc64fdf2c508a7",
    continues_proof: false,
    drains_all: false,
  },
];

/** The name of the working tree, which stands for the next release. */
export const WORKING_TREE = "tree";
