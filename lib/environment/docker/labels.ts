/** What containers of ours carry. A container without `driver` is somebody else's, and is left alone. */
export const LABELS = {
  driver: 'dart.driver',
  run: 'dart.run',
  env: 'dart.env',
  /** The process that removes it, as lib/environment/docker/owner.ts writes it. */
  owner: 'dart.owner',
  detached: 'dart.detached',
  /** The port of the guest server, inside. */
  port: 'dart.port',
} as const;

export const DRIVER = 'docker';

/** Name of the network that keeps desktops apart; made when it is first needed, and left. */
export const NETWORK = 'dart-desktops';
