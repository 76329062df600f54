export * from "./dialog.tsx";
export * from "./empty.tsx";
export * from "./logo.tsx";
export type { SignInFailure } from "./sign-in/provider.ts";
export * from "./sign-in/provider-session.ts";
export * from "./sign-in/tab-storage.ts";
export * from "./table.tsx";
export * from "./use-asked.ts";
