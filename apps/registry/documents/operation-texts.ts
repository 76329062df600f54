import { describeOperations } from "@ostiary/lib/openapi";

export const operations = describeOperations({
  apply: [
    "Create or replace services",
    "Checks the whole document and then writes all of its services in one transaction, each with a new revision. Services that the document does not name stay as they are. If anything is refused, nothing is written.",
  ],
});

export const DOCUMENT_BODY =
  "A configuration document. Without a content type it is read as YAML, which includes JSON.";
