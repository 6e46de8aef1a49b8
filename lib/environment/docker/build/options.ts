export type Variant = 'slim' | 'office' | 'full';

/** What an image is to be built from. */
export interface BuildOptions {
  variant: Variant;
  tag: string;
  /** An image, or `debootstrap`; undefined: whatever can be had. */
  base: string | undefined;
  /** Of Debian's packages. */
  mirror: string;
  securityMirror: string;
  /** Where Docker is; undefined: `DOCKER_HOST` or its usual socket. */
  host: string | undefined;
  /** One line about what begins. */
  tell: (line: string) => void;
  /** Called often: `step 4 of 20`. */
  progress: (text: string) => void;
  signal?: AbortSignal;
}
