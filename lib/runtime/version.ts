import ostiary from "../../package.json";

/** The version of this program, from the package.json in the root folder. */
export const VERSION: string = ostiary.version;
