import { SignInSettings } from "@ostiary/lib/contracts/sign-in";
import { type Static, Type } from "@sinclair/typebox";

/** The settings that the portal's process hands to its page (PT-2). They hold no secret. */
export const PortalSettings = Type.Object({
  ...SignInSettings.properties,
  /** The offered languages. The first one is the fallback. */
  languages: Type.Array(Type.String()),
  brand: Type.Object({
    name: Type.String(),
    has_logo: Type.Boolean(),
    links: Type.Object({
      support: Type.Optional(Type.String()),
      terms: Type.Optional(Type.String()),
      privacy: Type.Optional(Type.String()),
    }),
  }),
});
export type PortalSettings = Static<typeof PortalSettings>;
