import { readFileSync, readlinkSync } from 'node:fs';

/** This boot of this machine; empty where the system does not say. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** Where process numbers are counted: a container has a namespace of its own. Digits; empty where there is none. */
export function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  } catch {
    return '';
  }
}
