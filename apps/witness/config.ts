import { listenVariables, requestsInFlightMax, requiredText } from "@ostiary/lib/runtime/config";
import { type Static, Type } from "@sinclair/typebox";

/** The environment variables for the witness's name, its key and its state. */
const ownVariables = {
  WITNESS_NAME: requiredText(
    "must be 1 to 255 visible ASCII characters without a plus sign, such as witness.example.com/w1",
    {
      pattern: "^[\\x21-\\x2a\\x2c-\\x7e]{1,255}$",
      description: "The name in the witness's key and in each cosignature: a URL without the scheme.",
    },
  ),
  WITNESS_KEY_FILE: requiredText("must be the path of the key that ostiary witness init made", {
    description: "The Ed25519 private key, in PKCS #8 (PEM). Other users may not read the file.",
  }),
  WITNESS_STATE_FILE: requiredText("must be the path of the file that ostiary witness init made", {
    description:
      "The newest checkpoint of each log that the witness cosigned. Do not back up this file: an older copy lets the witness cosign a second history.",
  }),
};

/** The environment variables of `ostiary witness init`. */
export const initVariables = Type.Object(ownVariables);
export type InitConfig = Readonly<Static<typeof initVariables>>;

/** The environment variables of the witness (OP-5). */
export const witnessVariables = Type.Object({
  ...listenVariables({ host: "0.0.0.0", port: 3006, internal_port: 3007 }),
  ...ownVariables,
  WITNESS_LOGS_FILE: requiredText("must be the path of a file of logs", {
    description: "YAML with the logs to cosign, each with its origin and its verifier keys. Read at start.",
  }),
  MAX_REQUESTS_IN_FLIGHT: requestsInFlightMax(2_000),
});

export type WitnessConfig = Readonly<Static<typeof witnessVariables>>;
