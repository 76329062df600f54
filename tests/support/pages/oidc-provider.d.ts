/** The parts of `oidc-provider` that tests use; the package has no types. */
declare module "oidc-provider" {
  export class Provider {
    constructor(issuer: string, configuration: object);
    listen(port: number, host: string, listening: () => void): void;
  }
}
