/** The state that a running gateway reports in the route store. */
import { type Static, Type } from "@sinclair/typebox";
import { SERVICE_NAME_LENGTH_MAX } from "../domain/routes/index.ts";
import { countField, textField, timeField } from "../domain/schemas/index.ts";

export const SKIPPED_SERVICES_MAX = 1_000;

/** The maximum length of a skip reason. The gateway's log has the full reason. */
const SKIPPED_REASON_LENGTH_MAX = 300;

/** The maximum length of the value under a gateway's key, in UTF-16 code units. */
export const INSTANCE_LENGTH_MAX = 524_288;

const INSTANCE_ID_PATTERN = "^[A-Za-z0-9._-]{1,128}$";
export const InstanceId = Type.String({
  pattern: INSTANCE_ID_PATTERN,
  minLength: 1,
  maxLength: 128,
  description: "The gateway's id: its host name, and a suffix that is new at each start.",
  examples: ["gateway-7c9f-4e1d0a2b"],
});

const instanceTime = (description: string) => ({
  ...timeField(description),
  pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z$",
});

export const GatewayInstance = Type.Object(
  {
    instance: InstanceId,
    started_at: instanceTime("The time when the gateway started."),
    loaded_at: instanceTime("The time when the gateway loaded the routes that it serves."),
    store_revision: countField(
      "The revision of the route store up to which the gateway has loaded every change.",
      4_217,
    ),
    services: countField("The number of services that the gateway serves.", 12),
    routes: countField(
      "The number of routes that the gateway serves. Each method of a path counts as one.",
      148,
    ),
    skipped: Type.Array(
      Type.Object(
        {
          service: textField("The service's name.", "widgets"),
          reason: textField(
            "The reason why the gateway skips the service.",
            "url: Set url to `http://host:port`, such as `http://widgets:8080`.",
          ),
        },
        { title: "SkippedService", description: "A service that a gateway skips." },
      ),
      {
        maxItems: SKIPPED_SERVICES_MAX,
        description: `Services that the gateway skips, at most ${SKIPPED_SERVICES_MAX}.`,
      },
    ),
  },
  { title: "GatewayInstance", description: "A running gateway and its loaded routes." },
);
export type GatewayInstance = Static<typeof GatewayInstance>;

/** Returns an entry of `skipped`. Both texts come from the route store, so they can contain any characters. */
export function skippedService(service: string, reason: string): GatewayInstance["skipped"][number] {
  return {
    service: oneLine(service, SERVICE_NAME_LENGTH_MAX),
    reason: oneLine(reason, SKIPPED_REASON_LENGTH_MAX),
  };
}

function oneLine(text: string, lengthMax: number): string {
  return text
    .slice(0, lengthMax)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, "\u{fffd}");
}
