import { listItems, textOr } from "@ostiary/lib/runtime/config";
import { type TString, Type } from "@sinclair/typebox";

/** Names of services that Ostiary itself publishes, such as the portal. Nobody bills calls of these services. */
export type PlatformServices = ReadonlySet<string>;

const NAME = /^[A-Za-z0-9._-]{1,128}$/;

/** The variable that names the platform's services in usage. */
export const platformServicesVariable: { PLATFORM_SERVICES: TString } = {
  PLATFORM_SERVICES: textOr(
    "audit,audit-staff,identity,identity-staff,portal,registry",
    "must be names of services, separated by commas",
    {
      check: (text) => listItems(text).length > 0 && listItems(text).every((name) => NAME.test(name)),
      description:
        "The services of Ostiary's own catalogs. Usage marks their requests, and leaves them out unless a reader asks for them.",
    },
  ),
};

export function platformServices({ PLATFORM_SERVICES }: { PLATFORM_SERVICES: string }): PlatformServices {
  return new Set(listItems(PLATFORM_SERVICES));
}

/** The mark of the platform's services, which items of usage and usage events share. */
export const isPlatform = Type.Boolean({
  description: "Whether the service is one of Ostiary's own, such as the portal: do not bill its requests.",
  examples: [false],
});
