const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text as HTML shows it. */
export const textOf = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (found) => escapes[found] ?? found);

const inline = (text: string): string =>
  textOf(text)
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');

/** HTML of what the contract's texts use of Markdown: paragraphs, lists, `code` and bold. */
export const markdown = (text: string): string =>
  text
    .split(/\n{2,}/)
    .filter(Boolean)
    .map((part) =>
      part.startsWith('- ')
        ? `<ul>${part
            .slice(2)
            .split('\n- ')
            .map((item) => `<li>${inline(item)}</li>`)
            .join('')}</ul>`
        : `<p>${inline(part)}</p>`,
    )
    .join('');
