import { Type } from "@sinclair/typebox";

/** The service in a path. What is no valid name is unknown, or refused by PUT. */
export const serviceParams = Type.Object({
  name: Type.String({ description: "The service's name.", examples: ["widgets"] }),
});

/** A revision in a path. What is no number is unknown. */
export const RevisionParam = Type.String({ description: "A revision's number.", examples: ["3"] });

/** Header of the conditional writes, read by `readPrecondition`. */
export const ifMatchHeaders = Type.Object({
  "if-match": Type.Optional(
    Type.String({
      // no example: the page's "try it out" would send it
      description: 'Refuse with 412 unless this is the current revision, in quotes such as `"3"`; `*`: any.',
    }),
  ),
});

/** No parameters: `DELETE …?dry_run=true` must not delete. */
export const noQuery = Type.Object({}, { additionalProperties: false });
