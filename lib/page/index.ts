export * from "./dialog.tsx";
export * from "./mark.tsx";
export * from "./table-roles.ts";
