import { describeOperations } from "@ostiary/lib/openapi";

export const BYTES_TYPE = "application/octet-stream";
export const INDEX_FORM =
  "groups of three digits, each but the last with an x before it, such as 067, x001/067 or 067.p/12";

const TILE = "Read a tile of the log's tree, by";
const TILE_TEXT = `The tile has 256 hashes of 32 bytes (C2SP tlog-tiles). A tile of \`entries\` has the texts of 256 leaves, each preceded by its length in two bytes. Tiles never change. The index is ${INDEX_FORM}.`;

export const operations = describeOperations({
  getAuditLogRoot: [
    "Read the signed root of the log",
    "A signed note (C2SP tlog-checkpoint) over the name of the log, the number of leaves and the root of their tree. The response is 404 if the log has no signing key.",
  ],
  getAuditLogKey: [
    "Read the keys of the log",
    "The verifier keys that sign the roots of the log, in the form name+hash+key, one on each line. The response is 404 if the log has no signing key.",
  ],
  getAuditLogTile: [`${TILE} one part`, TILE_TEXT],
  getAuditLogTileOfTwo: [`${TILE} two parts`, TILE_TEXT],
  getAuditLogTileOfThree: [`${TILE} three parts`, TILE_TEXT],
  getAuditLogTileOfFour: [`${TILE} four parts`, TILE_TEXT],
});

/** The operations for tiles whose index has one part, two parts, and so on. */
export const tileOperations = [
  operations.getAuditLogTile,
  operations.getAuditLogTileOfTwo,
  operations.getAuditLogTileOfThree,
  operations.getAuditLogTileOfFour,
];

export const noteResponse = {
  description: "The newest signed root.",
  content: { "text/plain": { schema: { type: "string" as const, description: "A signed note." } } },
};

export const keyResponse = {
  description: "The verifier keys.",
  content: { "text/plain": { schema: { type: "string" as const, description: "Verifier keys." } } },
};

export const tileResponse = {
  description: "The tile.",
  content: {
    [BYTES_TYPE]: { schema: { type: "string" as const, format: "binary", description: "The bytes." } },
  },
};
