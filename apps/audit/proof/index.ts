/** The proof of the log: seal, heads, tree, root, witnesses, and what an export proves. */
export { checkAskedRoot, type ProofDeps, proofChunks } from "./export/proof.ts";
export { logHandlers, type PublishedLog } from "./root/root-handlers.ts";
export { checkSigningKeyFile } from "./root/signing-keys.ts";
export { type Proof, wireProof } from "./wire.ts";
export { checkWitnesses, witnessVariables } from "./witnesses/witnesses-file.ts";
