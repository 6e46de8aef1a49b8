import type Docker from 'dockerode';
import { dockerError, statusOf } from './errors.ts';
import { DRIVER, LABELS, NETWORK } from './labels.ts';

const pending = new WeakMap<Docker, Promise<string>>();

/** The network in which containers reach the world and not each other; made where it is not there. */
export function desktopNetwork(docker: Docker): Promise<string> {
  let network = pending.get(docker);
  if (!network) {
    network = ensureNetwork(docker);
    pending.set(docker, network);
  }
  return network;
}

async function ensureNetwork(docker: Docker): Promise<string> {
  try {
    const there = await docker.listNetworks({ filters: JSON.stringify({ name: [NETWORK] }) });
    if (there.some(({ Name }) => Name === NETWORK)) return NETWORK;
    await docker.createNetwork({
      Name: NETWORK,
      Driver: 'bridge',
      CheckDuplicate: true,
      Labels: { [LABELS.driver]: DRIVER },
      Options: { 'com.docker.network.bridge.enable_icc': 'false' },
    });
    return NETWORK;
  } catch (error) {
    // Another command was quicker.
    if (statusOf(error) === 409) return NETWORK;
    throw dockerError(error, `make the network ${NETWORK}`, 'docker');
  }
}
