import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256Of } from '../stream/sha256.ts';
import { policyInFolder, preparePolicy } from './folder.ts';
import { freshState } from './state.ts';
import { writeVersion, writeVersionFile } from './versions.ts';

const POLICY = Buffer.from('the policy that the run began with');
const OTHER = Buffer.from('another one');
const BEGUN = sha256Of(POLICY);
const DAMAGED = {
  message: expect.stringContaining('its sha256 is not that of the policy that the run began with'),
  hint: 'remove it; dart-train with the --policy that the run began with makes it again',
};

let dir = '';
let path = '';
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'dart-folder-'));
  path = join(dir, 'policy.onnx');
  await preparePolicy(dir, POLICY, true);
});
afterEach(() => rmSync(dir, { recursive: true }));

const publish = () =>
  writeVersion(dir, 1, 'run', (folder) => writeVersionFile(folder, 'state.json', JSON.stringify(freshState(BEGUN))));

describe('the policy of a publish folder', () => {
  it('is another one as long as no version came from it', async () => {
    expect(await preparePolicy(dir, OTHER, true)).toEqual({ path, sha256: sha256Of(OTHER) });
    expect(readFileSync(path)).toEqual(OTHER);
  });

  it('stays the one that the run began with', async () => {
    await publish();
    for (const source of [POLICY, null]) {
      expect(await preparePolicy(dir, source, true)).toEqual({ path, sha256: BEGUN });
    }
    expect(await preparePolicy(dir, OTHER, false)).toEqual({ path, sha256: BEGUN });
    await expect(preparePolicy(dir, OTHER, true)).rejects.toMatchObject({
      message: 'this folder holds the versions of another policy',
      hint: 'another --publish folder; or leave --policy out to go on with the one that is there',
    });
  });

  it('is said to be damaged where it is cut short, whatever the run is given; and is made again once it is removed', async () => {
    await publish();
    writeFileSync(path, POLICY.subarray(0, 9));
    for (const source of [POLICY, OTHER, null]) {
      for (const strict of [true, false]) {
        await expect(preparePolicy(dir, source, strict)).rejects.toMatchObject({ ...DAMAGED, where: path });
      }
    }
    expect(() => policyInFolder(dir)).toThrow(expect.objectContaining(DAMAGED));
    rmSync(path);
    await expect(preparePolicy(dir, OTHER, false)).rejects.toMatchObject({
      message: 'this folder holds the versions of another policy',
      hint: 'another --publish folder; or the --policy that the run began with',
    });
    expect(await preparePolicy(dir, POLICY, true)).toEqual({ path, sha256: BEGUN });
    expect(readFileSync(path)).toEqual(POLICY);
  });
});
