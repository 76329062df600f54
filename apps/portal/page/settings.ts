import { SignInSettings } from "@ostiary/lib/contracts/sign-in";
import { type Static, Type } from "@sinclair/typebox";

/** The witnesses that must have cosigned a log that the page verifies (PT-71). Witness keys are public. */
export const WitnessSettings = Type.Object({
  keys: Type.Array(Type.String()),
  quorum: Type.Integer(),
  /** The name that the log must have. Null if any name is accepted. */
  origin: Type.Union([Type.String(), Type.Null()]),
});
export type WitnessSettings = Static<typeof WitnessSettings>;

/** An identity provider, and the name on its button. Null if the page has only one button. */
const ProviderSettings = Type.Object({
  ...SignInSettings.properties,
  name: Type.Union([Type.String(), Type.Null()]),
});
export type ProviderSettings = Static<typeof ProviderSettings>;

/** The settings that the portal's process passes to its page (PT-2). They contain no secret. */
export const PortalSettings = Type.Object({
  providers: Type.Array(ProviderSettings),
  /** The languages that the page offers. The first language is the fallback. */
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
  witnesses: Type.Union([WitnessSettings, Type.Null()]),
});
export type PortalSettings = Static<typeof PortalSettings>;
