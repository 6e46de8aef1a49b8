import type { Color, Styles } from './styles.ts';

/** Indexed colours 8 to 63 (0 to 7 repeat the first eight), as every workbook has them unless it says otherwise. */
const PALETTE =
  '000000 FFFFFF FF0000 00FF00 0000FF FFFF00 FF00FF 00FFFF 800000 008000 000080 808000 800080 008080 C0C0C0 808080 ' +
  '9999FF 993366 FFFFCC CCFFFF 660066 FF8080 0066CC CCCCFF 000080 FF00FF FFFF00 00FFFF 800080 800000 008080 0000FF ' +
  '00CCFF CCFFFF CCFFCC FFFF99 99CCFF FF99CC CC99FF FFCC99 3366FF 33CCCC 99CC00 FFCC00 FF9900 FF6600 666699 969696 ' +
  '003366 339966 003300 333300 993300 993366 333399 333333';

/** The ARGB that a colour shows: themes and palettes looked up, tints put on; automatic colours are black. */
export function shownColor(color: Color, styles: Styles): string {
  if (color.kind === 'rgb') return color.rgb;
  if (color.kind === 'auto') return 'FF000000';
  if (color.kind === 'theme') return `FF${tinted(styles.theme[color.theme] ?? '000000', color.tint)}`.toUpperCase();
  const index = color.indexed < 8 ? color.indexed : color.indexed - 8;
  return styles.palette?.[color.indexed] ?? `FF${PALETTE.split(' ')[index] ?? '000000'}`;
}

/** A colour made lighter (tint above 0, to 1) or darker (below 0, to -1), each channel by its share. */
function tinted(rgb: string, tint: number): string {
  const channel = (start: number) => {
    const value = Number.parseInt(rgb.slice(start, start + 2), 16);
    const moved = tint < 0 ? value * (1 + tint) : value + (255 - value) * tint;
    return Math.round(moved).toString(16).padStart(2, '0');
  };
  return channel(0) + channel(2) + channel(4);
}
