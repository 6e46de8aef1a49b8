import { isObject, parseObject } from '../files/json_file.ts';
import { C, cube } from '../screen/palette.ts';
import { Field } from '../ui/field.ts';
import type { Ui } from '../ui/ui.ts';
import type { MenuItem } from '../ui/widget.ts';
import { clampScroll } from './app.ts';
import { OfficeApp } from './office.ts';

interface Slide {
  title: string;
  text: string;
  notes: string;
  background: string;
  hidden: boolean;
}

const BACKGROUNDS: Record<string, number> = {
  white: C.row,
  blue: cube(1, 1, 2),
  green: cube(1, 2, 1),
  yellow: cube(2, 2, 1),
  red: cube(2, 1, 1),
};

const FIELDS = ['title', 'text', 'notes'] as const;
const ROWS = 11;
/** Columns of the slide list. */
const LEFT = 5;
const MAX_SLIDES = 40;

/** The presentation program. */
export class ImpressApp extends OfficeApp {
  protected readonly program = 'Impress';
  protected readonly extension = '.odp';
  private slides: Slide[] = [blankSlide()];
  private current = 0;
  private offset = 0;
  private readonly fields = FIELDS.map((name) => {
    const field: Field = new Field('', { onChange: () => this.set(name, field.text), onEnter: () => {} });
    return field;
  });

  protected load(text: string): void {
    this.slides = parseSlides(text);
    this.offset = 0;
    this.show(0);
  }

  protected print(): string {
    return `${JSON.stringify({ slides: this.slides })}\n`;
  }

  view(ui: Ui): void {
    ui.menuBar(1, [
      { name: 'File', items: () => this.fileMenu() },
      { name: 'Slide', items: () => [...this.slideMenu(), { name: 'Hide Slide', run: () => this.toggleHidden() }] },
      { name: 'Format', items: () => this.formatMenu() },
    ]);
    ui.fill(0, 2, LEFT, ROWS, C.tab);
    ui.list(this.slides, this.offset, ROWS, (slide, row) => {
      const index = row + this.offset;
      const extra = { menu: () => this.rowMenu(index), fg: slide.hidden ? C.line : C.black };
      return ui.item(
        0,
        2 + row,
        LEFT,
        `${index + 1} ${slide.title}`,
        index === this.current,
        () => this.show(index),
        extra,
      );
    });
    this.viewSlide(ui);
  }

  private viewSlide(ui: Ui): void {
    const slide = this.slides[this.current];
    if (!slide) return;
    const bg = BACKGROUNDS[slide.background] ?? C.row;
    ui.fill(LEFT, 2, 10, ROWS, bg);
    FIELDS.forEach((name, index) => {
      const label = `${name[0]?.toUpperCase()}${name.slice(1)}`;
      const y = 3 + index * 3;
      ui.label(LEFT + 1, y, 8, label, { bg });
      const field = this.fields[index];
      if (field) ui.entry(LEFT + 1, y + 1, 8, label, field);
    });
    if (slide.hidden) ui.label(LEFT + 1, 12, 8, 'Hidden', { bg, fg: C.close });
  }

  override key(combo: string): boolean {
    const commands: Record<string, () => void> = {
      'ctrl+m': () => this.add(),
      delete: () => this.remove(),
      up: () => this.show(this.current - 1),
      down: () => this.show(this.current + 1),
    };
    if (!Object.hasOwn(commands, combo)) return super.key(combo);
    commands[combo]!();
    return true;
  }

  override scroll(rows: number): void {
    this.offset = clampScroll(this.offset + rows, this.slides.length, ROWS);
  }

  private set(field: (typeof FIELDS)[number], value: string): void {
    const slide = this.slides[this.current];
    if (slide) slide[field] = value;
  }

  private show(index: number): void {
    this.current = Math.max(0, Math.min(index, this.slides.length - 1));
    this.offset = Math.max(Math.min(this.offset, this.current), this.current - ROWS + 1);
    this.focus = null;
    const slide = this.slides[this.current];
    FIELDS.forEach((name, i) => {
      this.fields[i]?.set(slide?.[name] ?? '');
    });
  }

  private rowMenu(index: number): MenuItem[] {
    this.show(index);
    return this.slideMenu();
  }

  private slideMenu(): MenuItem[] {
    return [
      { name: 'New Slide', run: () => this.add() },
      { name: 'Duplicate', run: () => this.duplicate() },
      { name: 'Delete', run: () => this.remove() },
      { name: 'Move Up', run: () => this.move(-1) },
      { name: 'Move Down', run: () => this.move(1) },
    ];
  }

  private formatMenu(): MenuItem[] {
    return ['White', 'Blue', 'Green', 'Yellow', 'Red'].map((name) => ({
      name,
      run: () => {
        const slide = this.slides[this.current];
        if (slide) slide.background = name.toLowerCase();
      },
    }));
  }

  private add(): void {
    if (this.slides.length >= MAX_SLIDES) return;
    this.slides.splice(this.current + 1, 0, blankSlide());
    this.show(this.current + 1);
    this.focus = this.fields[0] ?? null;
  }

  private duplicate(): void {
    const slide = this.slides[this.current];
    if (!slide || this.slides.length >= MAX_SLIDES) return;
    this.slides.splice(this.current + 1, 0, { ...slide });
    this.show(this.current + 1);
  }

  private remove(): void {
    if (this.slides.length < 2) return;
    this.slides.splice(this.current, 1);
    this.show(this.current);
  }

  private move(step: number): void {
    const to = this.current + step;
    const slide = this.slides[this.current];
    if (!slide || to < 0 || to >= this.slides.length) return;
    this.slides.splice(this.current, 1);
    this.slides.splice(to, 0, slide);
    this.show(to);
  }

  private toggleHidden(): void {
    const slide = this.slides[this.current];
    if (slide) slide.hidden = !slide.hidden;
  }
}

function blankSlide(): Slide {
  return { title: '', text: '', notes: '', background: 'white', hidden: false };
}

/** Slides of a file; what is missing or of another kind has its default, and there is always one slide. */
function parseSlides(text: string): Slide[] {
  const { slides } = parseObject(text);
  const list = Array.isArray(slides) ? slides.filter(isObject).slice(0, MAX_SLIDES) : [];
  const word = (value: unknown, initially: string) => (typeof value === 'string' ? value : initially);
  const parsed = list.map((s) => ({
    title: word(s.title, ''),
    text: word(s.text, ''),
    notes: word(s.notes, ''),
    background: word(s.background, 'white'),
    hidden: s.hidden === true,
  }));
  return parsed.length > 0 ? parsed : [blankSlide()];
}
