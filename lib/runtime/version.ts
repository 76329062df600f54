import ostiary from "../../package.json";

export const VERSION: string = ostiary.version;
