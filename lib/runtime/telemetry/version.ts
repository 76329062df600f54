import ostiary from "../../../package.json";

/** Of this program. */
export const VERSION: string = ostiary.version;
