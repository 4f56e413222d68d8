// The pages work without this script. It adds one key, one button and passkeys, which need a script.
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

// The server's options go to the device, and the device's answer goes back in the form.
const passkeyCalls = {
  get: (options) =>
    navigator.credentials.get({
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options),
    }),
  create: (options) =>
    navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options),
    }),
};
const canUsePasskeys = Boolean(globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON);

const usePasskey = async (form) => {
  const { passkey: call, options: address } = form.dataset;
  const body = new URLSearchParams(new FormData(form));
  const answer = await fetch(address, { method: 'POST', body });
  const credential = await passkeyCalls[call](await answer.json());
  form.elements.response.value = JSON.stringify(credential);
  form.submit();
};

for (const form of document.querySelectorAll('form[data-passkey]')) {
  const status = form.querySelector('[role=status]');
  if (canUsePasskeys) form.querySelector('button').hidden = false;
  else status.textContent = 'This browser cannot use passkeys.';
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    status.textContent = '';
    void usePasskey(form).catch((error) => {
      status.textContent = `The device used no passkey (${error.name}). Reload the page to try again.`;
    });
  });
}
