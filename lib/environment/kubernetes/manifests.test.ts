import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Rule } from './api_server.testing.ts';
import { client } from './client.testing.ts';
import { kubernetesKind } from './kind.ts';
import { Lab, until } from './lab.testing.ts';
import { LABEL } from './names.ts';
import { podProblems } from './rules.testing.ts';
import { schemaProblems } from './schema.testing.ts';

interface Manifest {
  kind: string;
  metadata: { name: string; namespace?: string };
  rules?: Rule[];
  spec?: { template?: { spec: { containers: { args: string[] }[] } }; podSelector?: unknown; ingress?: unknown };
}

const folder = join(import.meta.dirname, '..', '..', '..', 'docs', 'kubernetes');
// Not the client's own reader: that drops what it does not know.
const read = (name: string): Manifest[] =>
  parseAllDocuments(readFileSync(join(folder, name), 'utf8')).map((document) => document.toJS());

describe.skipIf(!client)('the manifests', { timeout: 120_000 }, () => {
  it.each(['rbac.yaml', 'job.yaml', 'networkpolicy.yaml'])('%s is what the API takes', (name) => {
    for (const manifest of read(name)) {
      expect(schemaProblems(manifest, `V1${manifest.kind}`)).toEqual([]);
      expect(manifest.kind === 'Namespace' ? manifest.metadata.name : manifest.metadata.namespace).toBe('desktops');
    }
  });

  it('the check finds a misspelt field, a missing one, and a wrong type', () => {
    const [job] = read('job.yaml');
    const broken = JSON.parse(JSON.stringify(job).replace('"backoffLimit":0', '"backofLimit":0,"parallelism":"two"'));
    delete broken.spec.template.spec.containers[0].name;
    expect(schemaProblems(broken, 'V1Job')).toEqual([
      '.spec.backofLimit: unknown field of V1JobSpec',
      '.spec.parallelism: "two" is no number',
      '.spec.template.spec.containers[0].name: missing, required in V1Container',
    ]);
  });

  it('the Job is a pod that the API takes, with options that there are', () => {
    const template = read('job.yaml')[0]!.spec!.template!;
    expect(podProblems({ ...template, metadata: { name: 'job' } } as never)).toEqual([]);
    const spec = template.spec.containers[0]!.args.find((arg) => arg.startsWith('--env='))!;
    const names = spec
      .split(',')
      .slice(1)
      .map((option) => option.split('=')[0]);
    const known = [...kubernetesKind.options.map(({ name }) => name), 'parallel', 'spares'];
    expect(names.filter((name) => !known.includes(name!))).toEqual([]);
  });

  it('the network policy is about our pods and their ports', () => {
    const spec = read('networkpolicy.yaml')[0]!.spec!;
    expect(spec.podSelector).toEqual({ matchLabels: { [LABEL.driver]: 'kubernetes' } });
    const defaults = ['port', 'cdp-port', 'vlc-port'].map((name) => {
      return kubernetesKind.options.find((option) => option.name === name)!.default;
    });
    expect(JSON.stringify(spec.ingress).match(/"port":\d+/g)).toEqual(defaults.map((port) => `"port":${port}`));
  });

  it('the role allows all that is done, and nothing else', async () => {
    const lab = await Lab.start();
    const rules = read('rbac.yaml').find(({ kind }) => kind === 'Role')!.rules!;
    lab.api.rules = rules;
    // Its own pod is read by a Job, its lease renewed after a while, its answer asked for again when it was lost.
    lab.api.store.create('pods', { metadata: { name: 'job-x1' } } as never, lab.api.namespace);
    const driver = lab.driver(1, { address: 'forward', cluster: lab.inside('job-x1') });
    const desktop = await driver.start(0, 'kubernetes-0');
    const fleet = lab.fleet();
    const [member] = await fleet.list();
    await fleet.exec(member!, ['true']);
    for await (const _piece of fleet.logs(member!, {}));
    const { namespace, coordination } = lab.cluster;
    const [lease] = lab.names('leases');
    const merge = client!.setHeaderOptions('Content-Type', client!.PatchStrategy.MergePatch);
    await coordination.patchNamespacedLease({ namespace, name: lease!, body: { spec: {} } }, merge);
    await coordination.readNamespacedLease({ namespace, name: lease! });
    await desktop.close();
    await fleet.remove(member!);
    await until(() => lab.api.watching === 0);
    const done = new Set(lab.api.asked.map(({ verb, resource }) => `${verb} ${resource}`));
    const allowed = rules.flatMap(({ verbs, resources }) =>
      verbs.flatMap((verb) => resources!.map((r) => `${verb} ${r}`)),
    );
    // Each WebSocket needs two permissions.
    const gets = ['get pods/exec', 'get pods/portforward'];
    expect([...done, ...gets].sort()).toEqual(allowed.sort());
    expect(lab.api.problems).toEqual([]);
    await lab.close();
  });
});
