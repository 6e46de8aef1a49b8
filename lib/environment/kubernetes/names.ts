import { createHash, randomBytes } from 'node:crypto';

/** Labels of what we make in a cluster. The annotations of the same names hold what does not fit into a label. */
export const LABEL = {
  run: 'dart.run',
  env: 'dart.env',
  driver: 'dart.driver',
  owner: 'dart.owner',
} as const;
export const DETACHED = 'dart.detached';
/** The one container of a desktop's pod. */
export const CONTAINER = 'desktop';
/** The variable in which the guest server finds its token. */
export const TOKEN_VARIABLE = 'DART_GUEST_TOKEN';
/** Selects the desktops of everybody who uses this driver. */
export const ALL_DESKTOPS = `${LABEL.driver}=kubernetes`;

/** A new name for a process that owns desktops: ten hexadecimal digits. */
export function newOwner(): string {
  return randomBytes(5).toString('hex');
}

/** A new name for a desktop's pod: a DNS label, unlike any that was there before. */
export function podName(owner: string, envId: string): string {
  const id = envId
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(-30)
    .replace(/^-+|-+$/g, '');
  return `dart-${owner}-${id || 'env'}-${randomBytes(2).toString('hex')}`;
}

/** Name of the lease that says whether an owner lives. */
export function leaseName(owner: string): string {
  return `dart-${owner}`;
}

/** `text` as the value of a label: at most 63 characters, with a digest where something had to go. */
export function labelValue(text: string): string {
  if (/^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/.test(text)) return text;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 10);
  const plain = text
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, 50)
    .replace(/^[._-]+|[._-]+$/g, '');
  return plain === '' ? digest : `${plain}-${digest}`;
}
