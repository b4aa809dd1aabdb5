// Start the players that the page has.

for (const [kind, makeView] of Object.entries({ box: makeBoxView, planar: makePlanarView })) {
  const root = document.querySelector(`[data-playback=${kind}]`);
  if (root) startPlayer(root, makeView);
}
