import ostiary from "../../package.json";

/** Of this program, wherever it is told: the root's package.json has it, and nothing else. */
export const VERSION: string = ostiary.version;
