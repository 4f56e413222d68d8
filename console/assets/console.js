// The pages work without this script. It adds one key and one button.
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest('input, textarea, select');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const search = document.getElementById('search');
  if (!search) return;
  event.preventDefault();
  search.focus();
});

if (navigator.clipboard)
  for (const button of document.querySelectorAll('button[data-copies]')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      const text = document.getElementById(button.dataset.copies).textContent.trim();
      void navigator.clipboard.writeText(text).then(() => {
        button.textContent = 'Copied';
      });
    });
  }
