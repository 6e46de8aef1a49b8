import { DartError } from '../../errors.ts';
import type { Driver } from '../environment.ts';
import type { Fleet, KindValues, OpenOptions } from '../kind.ts';
import { openCluster } from './cluster.ts';
import { KubernetesDriver } from './driver.ts';
import { KubernetesFleet } from './fleet.ts';
import { clusterSettings, driverSettings } from './settings.ts';

/** The driver of `kubernetesKind`. @throws DartError without an image or a cluster, or where the values do not go together. */
export async function openKubernetes(count: number, values: KindValues, options: OpenOptions): Promise<Driver> {
  const settings = driverSettings(values);
  const cluster = await openCluster(clusterSettings(values));
  if (options.detach && (settings.address ?? (cluster.inside ? 'pod' : 'forward')) === 'forward') {
    throw new DartError('a port-forward ends with this process', {
      where: '--detach',
      hint: '--address pod, from where the pods can be reached',
    });
  }
  return new KubernetesDriver(cluster, settings, count, options);
}

/** The desktops of everybody in the namespace. */
export async function openFleet(values: KindValues): Promise<Fleet> {
  return new KubernetesFleet(await openCluster(clusterSettings(values)));
}
