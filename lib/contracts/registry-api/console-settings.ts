import { type Static, Type } from "@sinclair/typebox";
import { nullable } from "../../domain/schemas/index.ts";
import { SignInSettings } from "../sign-in.ts";

/** The settings that the registry delivers to the console with its page (RG-127), without secrets. */
export const ConsoleSettings = Type.Object({
  /** The sign-in settings, or null if people sign in to the console with a token only. */
  sign_in: nullable(SignInSettings),
});
export type ConsoleSettings = Static<typeof ConsoleSettings>;
