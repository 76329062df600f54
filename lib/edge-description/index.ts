export { edgeDescription } from "./build.ts";
export { type KnownDescription, NotADescription, ServiceDescription } from "./service-description.ts";
