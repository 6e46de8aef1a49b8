import type { FetchedFile } from '../../context.ts';
import { attributeOf, descendantsOf, parseXml } from '../../formats/xml.ts';
import { agentsWork } from './decks.ts';

/** As `check_left_panel` on nodes, of an accessibility tree in a file: the XML of OSWorld's server. */
export function hasPanelIn(file: FetchedFile): number {
  return agentsWork(() => {
    const root = parseXml(file.bytes);
    const frames = [root, ...descendantsOf(root, '', 'document-frame')];
    return Number(
      frames.some((frame) => frame.nodeName === 'document-frame' && attributeOf(frame, 'name') === 'Slides View'),
    );
  });
}
