import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

const paint = (style: Style, text: string): string =>
  process.stdout.isTTY ? styleText(style, text) : text;

let step = 0;

/** The output of `npm run demo`: numbered steps, with requests and responses below each. */
export const terminal = {
  step: (title: string): void => {
    step += 1;
    console.log(`\n${paint('bold', `${step}. ${title}`)}`);
  },
  sent: (text: string): void => console.log(`   ${paint('cyan', '→')} ${text}`),
  received: (text: string): void => console.log(`   ${paint('cyan', '←')} ${text}`),
  /** Several lines, indented. */
  block: (text: string): void => console.log(paint('dim', text.replaceAll(/^(?=.)/gm, '     '))),
  good: (text: string): void => console.log(`   ${paint('green', `✓ ${text}`)}`),
  end: (text: string): void => console.log(`\n${paint(['bold', 'green'], text)}`),
  bad: (text: string): void => console.error(`\n${paint(['bold', 'red'], text)}`),
};
export type Terminal = typeof terminal;
