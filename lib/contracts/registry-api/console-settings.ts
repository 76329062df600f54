import { type Static, Type } from "@sinclair/typebox";
import { nullable } from "../../domain/schemas/index.ts";
import { SignInSettings } from "../sign-in.ts";

/** The settings that the registry hands to the console with its page (RG-127). They hold no secret. */
export const ConsoleSettings = Type.Object({
  /** Where people sign in, or null if the console takes tokens alone. */
  sign_in: nullable(SignInSettings),
});
export type ConsoleSettings = Static<typeof ConsoleSettings>;
