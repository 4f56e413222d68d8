// The pages work without this script. It adds one key, some buttons, times relative to now, and passkeys, which
// need a script.
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest('input, textarea, select');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const search = document.getElementById('search');
  if (!search) return;
  event.preventDefault();
  search.focus();
});

if (navigator.clipboard) document.documentElement.classList.add('copies');
document.addEventListener('click', (event) => {
  const button = event.target.closest('button[data-copy]');
  if (!button) return;
  void navigator.clipboard.writeText(button.dataset.copy).then(() => {
    button.classList.add('copied');
    setTimeout(() => button.classList.remove('copied'), 1_500);
  });
});

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
      status.textContent =
        error.name === 'InvalidStateError'
          ? 'This device has a passkey of yours already.'
          : `The device used no passkey (${error.name}). Reload the page to try again.`;
    });
  });
}

// A live part is replaced by a newer one and by nothing else: a proxy's error or login page would end the polling.
const stale = document.getElementById('stale');
let refreshedAt = new Date();
let failures = 0;
const failed = ({ detail }) => {
  failures += 1;
  // One bad answer says little. A server that hangs has been given ten seconds.
  const hangs = detail.ctx.request.signal?.aborted ?? false;
  stale.hidden = stale.hidden && failures < 2 && !hangs;
  const { zone } = stale.dataset;
  const time = refreshedAt.toLocaleTimeString('en-GB', { timeZone: zone });
  stale.textContent = `Not refreshed since ${time} ${zone}.`;
};
document.addEventListener('htmx:before:response', (event) => {
  if (!event.detail.ctx.response.headers.has('console-part')) {
    event.preventDefault();
    failed(event);
    return;
  }
  refreshedAt = new Date();
  failures = 0;
  stale.hidden = true;
});
document.addEventListener('htmx:error', failed);
document.addEventListener('htmx:after:swap', () => showAges());

// An address without what was not asked for is shorter.
for (const form of document.querySelectorAll('form.filters[method="get"]'))
  form.addEventListener('formdata', ({ formData }) => {
    const hasTimes = formData.get('from') || formData.get('to');
    for (const [name, value] of [...formData])
      if (value === '' || (name === 'zone' && !hasTimes)) formData.delete(name);
  });

// Selects the rows of a page, and says how many are selected.
for (const all of document.querySelectorAll('[data-selects-all]')) {
  const box = all.querySelector('input');
  const rows = [...all.closest('form').querySelectorAll('tbody input')];
  const button = all.closest('form').querySelector('button[value="selected"]');
  all.hidden = false;
  const count = () => {
    const selected = rows.filter(({ checked }) => checked).length;
    all.querySelector('span').textContent = selected === 0 ? '' : `${selected} selected`;
    box.checked = selected === rows.length;
    button.disabled = selected === 0;
    box.indeterminate = selected > 0 && selected < rows.length;
  };
  box.addEventListener('change', () => {
    for (const row of rows) row.checked = box.checked;
    count();
  });
  for (const row of rows) row.addEventListener('change', count);
  count();
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const relative = new Intl.RelativeTimeFormat('en', { style: 'narrow' });
const describe = (seconds) => {
  const [unit, size] = units.find((each) => Math.abs(seconds) >= each[1]) ?? ['second', 1];
  return relative.format(Math.round(seconds / size), unit);
};
// The style sheet shows it beside the time where there is room.
const showAges = () => {
  for (const time of document.querySelectorAll('time[datetime]')) {
    const age = describe((Date.parse(time.dateTime) - Date.now()) / 1000);
    if (time.dataset.age === age) continue;
    time.dataset.age = age;
    time.title = time.dataset.full ? `${time.dataset.full} · ${age}` : age;
  }
};
showAges();
setInterval(showAges, 5_000);
