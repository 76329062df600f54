/** What the tests use of `oidc-provider`, which has no types of its own. */
declare module "oidc-provider" {
  export class Provider {
    constructor(issuer: string, configuration: object);
    listen(port: number, host: string, listening: () => void): void;
  }
}
