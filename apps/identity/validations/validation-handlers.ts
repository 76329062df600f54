import {
  CredentialValidationRequest,
  IdpValidationRequest,
  ValidationResult,
} from "@ostiary/lib/contracts/admission";
import { VALIDATE_PATH } from "@ostiary/lib/contracts/internal-api";
import { validationError } from "@ostiary/lib/domain/errors";
import { bodyErrors, noQuery, response } from "@ostiary/lib/runtime/http";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Dependencies } from "../dependencies.ts";
import { checkedSubject } from "../users/user.ts";
import { validateCredential, validateSubject } from "./validation-commands.ts";

/** The two forms of the body, as optional fields of one object, so that errors name the field. */
const ValidateBody = Type.Object(
  {
    idp: Type.Optional(IdpValidationRequest.properties.idp),
    credential: Type.Optional(CredentialValidationRequest.properties.credential),
  },
  {
    additionalProperties: false,
    title: "Validate request",
    description: "Exactly one of idp and credential.",
    examples: [{ credential: CredentialValidationRequest.properties.credential.examples?.[0] }],
  },
);

/** Returns the route `POST /internal/credentials/validate` (ID-84). */
export function validationHandlers(deps: Dependencies) {
  return new Elysia({ name: "validations", normalize: false }).post(
    VALIDATE_PATH,
    async ({ body: { idp, credential } }) => {
      if (idp !== undefined && credential === undefined) {
        return validateSubject(deps, checkedSubject(idp));
      }
      if (credential !== undefined && idp === undefined) {
        return validateCredential(deps, credential);
      }
      throw validationError([
        {
          path: idp === undefined ? "" : "credential",
          message: "The body must have exactly one of idp and credential.",
        },
      ]);
    },
    {
      query: noQuery,
      body: ValidateBody,
      response: {
        200: response(ValidationResult, "The holder of the credential, or `valid: false`."),
        ...bodyErrors("UNAUTHORIZED"),
      },
      detail: {
        operationId: "validateCredential",
        summary: "Validate a credential",
        description:
          "Called by the gateway. Returns the person or member that a JWT subject, an API key or a session stands for.",
        tags: ["Internal"],
      },
    },
  );
}
