/** Shows only the clusters, reasons and changes that the person asks for. The page is complete without it. */
const [filter, show, shown] = ['filter', 'show', 'shown'].map((id) => document.getElementById(id));
const rows = [...document.querySelectorAll('tbody tr')].map((row) => ({
  row,
  name: row.querySelector('th span').textContent.toLowerCase(),
}));
const entries = [...document.querySelectorAll('.entry')].map((entry) => ({
  entry,
  text: entry.textContent.toLowerCase(),
}));

function update() {
  const wanted = filter.value.trim().toLowerCase();
  let count = 0;
  for (const { row, name } of rows) {
    row.hidden = !name.includes(wanted) || (show.value !== '' && row.dataset[show.value] === '0');
    if (!row.hidden) count += 1;
  }
  for (const { entry, text } of entries) entry.hidden = !text.includes(wanted);
  shown.textContent = count === rows.length ? '' : `${count} of ${rows.length} rows`;
}

filter.addEventListener('input', update);
show.addEventListener('input', update);
document.addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') document.querySelector('details[name][open]')?.removeAttribute('open');
});
document.getElementById('tools').hidden = false;
// A browser keeps what was typed when it loads the page again. The newest runs are at the right.
update();
document.getElementById('grid').scrollLeft = 1e6;
