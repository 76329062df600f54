import { generateKeyPairSync } from "node:crypto";
import { publicBytes, verifierKeyText } from "../../support/test-log.ts";
import { writeKeyFile } from "./proof-bed.ts";

/** Returns environment variables that configure one witness, at the origin of this URL. */
export function witnessVariables(url: string) {
  const key = verifierKeyText("witness", 4, publicBytes(generateKeyPairSync("ed25519").privateKey));
  const witnesses = [{ name: "witness", url: new URL(url).origin, key }];
  return { AUDIT_WITNESSES_FILE: writeKeyFile(JSON.stringify({ witnesses })) };
}
