import ostiary from "../../package.json";

/** The version of this program, whose only source is the package.json of the root. */
export const VERSION: string = ostiary.version;
