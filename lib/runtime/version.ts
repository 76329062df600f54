import ostiary from "../../package.json";

/** The version of this program, from the package.json of the root. */
export const VERSION: string = ostiary.version;
