// Shapes and colours of marks. Each band and model has its own shape, so that no one has to distinguish colours.
// The colours are the Okabe-Ito palette, darkened for light themes to keep their contrast.

import * as vscode from 'vscode';
import type { Band } from '../protocol';

export interface MarkStyle {
  /** Theme colour for the overview ruler; absent for models, which use `dark` and `light`. */
  theme?: string;
  dark: string;
  light: string;
  /** SVG of the mark on a range's first line, filled with the current colour. */
  shape: string;
}

const CIRCLE = '<circle cx="8" cy="8" r="3.5" fill="none" stroke="C" stroke-width="1.8"/>';
const DISC = '<circle cx="8" cy="8" r="4" fill="C"/>';
const TRIANGLE = '<path d="M8 3.5 12.5 12h-9z" fill="none" stroke="C" stroke-width="1.8" stroke-linejoin="round"/>';
const FILLED_TRIANGLE = '<path d="M8 3 13 12H3z" fill="C"/>';
const DIAMOND = '<path d="M8 2.5 13 8l-5 5.5L3 8z" fill="C"/>';
const SQUARE = '<path d="M4.5 4.5h7v7h-7z" fill="none" stroke="C" stroke-width="1.8"/>';
const OCTAGON =
  '<path d="M5.5 2h5L14 5.5v5L10.5 14h-5L2 10.5v-5z" fill="C"/><path d="M7.2 4.5h1.6V9H7.2zm0 5.5h1.6v1.6H7.2z" fill="#fff"/>';
const DOT = '<circle cx="8" cy="8" r="3" fill="C"/>';

export const BANDS: Record<Band | 'none', MarkStyle> = {
  low: { theme: 'vibes.band.low', dark: '#56b4e9', light: '#0072b2', shape: CIRCLE },
  medium: { theme: 'vibes.band.medium', dark: '#e69f00', light: '#a06a00', shape: TRIANGLE },
  high: { theme: 'vibes.band.high', dark: '#ff7a33', light: '#c24a00', shape: DIAMOND },
  critical: { theme: 'vibes.band.critical', dark: '#ff6db6', light: '#9e1f63', shape: OCTAGON },
  none: { theme: 'vibes.band.none', dark: '#9a9a9a', light: '#6b6b6b', shape: DOT },
};

/** Styles of models, assigned in order of appearance. */
export const MODELS: readonly MarkStyle[] = [
  { dark: '#56b4e9', light: '#0072b2', shape: DISC },
  { dark: '#e69f00', light: '#a06a00', shape: FILLED_TRIANGLE },
  { dark: '#2bc49a', light: '#00785a', shape: SQUARE },
  { dark: '#ff6db6', light: '#9e1f63', shape: DIAMOND },
  { dark: '#f0e442', light: '#7a7000', shape: CIRCLE },
  { dark: '#ff7a33', light: '#c24a00', shape: TRIANGLE },
  { dark: '#b9a5ff', light: '#5b3fd0', shape: DOT },
];

const BAR = '<path d="M7 0h2v16H7z" fill="C"/>'; // stretched to the line height, so that bars join
const DASHES = '<path d="M7 0h2v3H7zm0 5h2v3H7zm0 5h2v3H7zm0 5h2v1H7z" fill="C"/>';

const HOLLOW = '<path d="M5.5 0h1v16h-1zm4 0h1v16h-1z" fill="C"/>';

export type Part = 'first' | 'firstClaimed' | 'ai' | 'claimed' | 'edited';

/** Returns the SVG of one part of a mark. Only verified parts are solid. */
export function drawingOf({ shape }: MarkStyle, part: Part): string {
  return { first: shape, firstClaimed: dashed(shape), ai: BAR, claimed: HOLLOW, edited: DASHES }[part];
}

/** Returns the decoration type of one part. Claimed parts do not appear in the overview ruler. */
export function decorationOf(style: MarkStyle, part: Part): vscode.TextEditorDecorationType {
  const fit = part === 'first' || part === 'firstClaimed' ? 'xMidYMid' : 'none';
  const isClaimed = part === 'claimed' || part === 'firstClaimed';
  const side = (colour: string) => ({
    gutterIconPath: picture(drawingOf(style, part), colour, fit),
    ...(isClaimed ? {} : { overviewRulerColor: style.theme === undefined ? colour : new vscode.ThemeColor(style.theme) }),
  });
  return vscode.window.createTextEditorDecorationType({
    dark: side(style.dark),
    light: side(style.light),
    gutterIconSize: '100% 100%',
    ...(isClaimed ? {} : { overviewRulerLane: vscode.OverviewRulerLane.Left }),
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
}

/** Returns the mark of a band as the icon of a tree row. */
export function iconOf(band: Band | null): { dark: vscode.Uri; light: vscode.Uri } {
  const { dark, light, shape } = BANDS[band ?? 'none'];
  return { dark: picture(shape, dark, 'xMidYMid'), light: picture(shape, light, 'xMidYMid') };
}

/** Returns a shape with a dashed outline and without a fill. */
function dashed(shape: string): string {
  return shape
    .replace('fill="C"', 'fill="none" stroke="C" stroke-width="1.8"')
    .replace('stroke-width="1.8"', 'stroke-width="1.4" stroke-dasharray="2 1.6"')
    .replace('fill="#fff"', 'fill="C"');
}

function picture(drawing: string, colour: string, fit: string): vscode.Uri {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" preserveAspectRatio="${fit}">${drawing.replaceAll('"C"', `"${colour}"`)}</svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`);
}
