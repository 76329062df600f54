export { type EdgeSources, edgeDescription, type LeftOut } from "./build.ts";
export { type KnownDescription, NotADescription, ServiceDescription } from "./service-description.ts";
