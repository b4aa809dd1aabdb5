// A player: its controls, its clock, the readout and the curves below the scene. A view draws the scene itself.

const PLAIN = ["0", "Home"]; // keys that bring a view back

/** Place of a time between two entries of an ascending list: [index before, index after, share of the way]. */
function between(times, now) {
  let low = 0;
  let high = times.length - 1;
  if (now <= times[0]) return [0, 0, 0];
  if (now >= times[high]) return [high, high, 0];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= now) low = middle;
    else high = middle;
  }
  return [low, high, (now - times[low]) / (times[high] - times[low])];
}

/** Last entry of an ascending list that is not after a time. */
const lastBefore = (times, now) => between(times, now)[0];

const mix = (a, b, share) => a + (b - a) * share;

/** A canvas in CSS pixels, as sharp as the screen shows it; null while it is hidden. */
function sheet(canvas) {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (!width || !height) return null;
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.lineJoin = context.lineCap = "round";
  return { context, width, height };
}

/** Colours of the page as it is now, light or dark. */
function coloursOf(root) {
  const style = getComputedStyle(root);
  const colours = {};
  for (const name of ["measured", "predicted", "ink", "faint", "ground", "contact"]) {
    colours[name] = style.getPropertyValue(`--playback-${name}`).trim();
  }
  return colours;
}

function stroke(context, points, colour, width, dash = []) {
  context.beginPath();
  points.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.stroke();
  context.setLineDash([]);
}

function fill(context, points, colour, alpha) {
  context.beginPath();
  points.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
  context.globalAlpha = alpha;
  context.fillStyle = colour;
  context.fill();
  context.globalAlpha = 1;
}

/** Curves below each other over one axis of time, with a marker at the present one. */
function drawCurves({ context, width, height }, rows, duration, now, colours) {
  const [left, right, bottom] = [8, 8, 18];
  const tall = (height - bottom) / rows.length;
  const across = (time) => left + ((width - left - right) * time) / duration;
  context.font = "12px system-ui, sans-serif";
  rows.forEach((row, number) => {
    const base = (number + 1) * tall - 4;
    const most = Math.max(...row.values, 1e-9);
    const up = (value) => base - ((tall - 24) * Math.max(value, 0)) / most;
    stroke(context, [[left, base], [width - right, base]], colours.faint, 1);
    context.fillStyle = colours.ink;
    context.textAlign = "left";
    context.fillText(`${row.label}, up to ${row.unit(most)}`, left, base - tall + 18);
    const points = row.times.map((time, k) => [across(time), up(row.values[k])]);
    if (row.bars) points.forEach(([x, y]) => stroke(context, [[x, base], [x, y]], colours.contact, 3));
    else stroke(context, points, row.colour || colours.predicted, 1.5);
    if (row.dots) points.forEach(([x, y]) => context.fillRect(x - 1.5, y - 1.5, 3, 3));
    if (!row.bars) {
      const [low, high, share] = between(row.times, now);
      const [x, value] = row.dots ? [row.times[low], row.values[low]] : [now, mix(row.values[low], row.values[high], share)];
      context.beginPath();
      context.arc(across(x), up(value), 4, 0, 7);
      context.fillStyle = colours.ink;
      context.fill();
    }
  });
  const here = across(now);
  stroke(context, [[here, 0], [here, height - bottom]], colours.ink, 1);
  context.textAlign = "left";
  context.fillText("0 s", left, height - 4);
  context.textAlign = "right";
  context.fillText(`${(duration / 1000).toFixed(2)} s`, width - right, height - 4);
}

/** Bring a player to life. `makeView(root, redraw)` gives `show`, `draw`, `words`, `curves`, `key` and `press`. */
function startPlayer(root, makeView) {
  const find = (selector) => root.querySelector(selector);
  const tosses = JSON.parse(find("script.data").textContent).tosses;
  const [scene, curve, play, slider] = [".scene", ".curve", ".play", ".time"].map(find);
  const [choice, speed, clock, readout, about] = [".toss", ".speed", ".clock", ".readout", ".about"].map(find);
  let [toss, now, since, waiting] = [null, 0, null, false];
  const view = makeView(root, redraw);
  const duration = () => toss.time_ms[toss.time_ms.length - 1];

  function draw() {
    waiting = false;
    const colours = coloursOf(root);
    const above = sheet(scene);
    if (above) view.draw(above, toss, now, colours);
    const below = sheet(curve);
    if (below) drawCurves(below, view.curves(toss, colours), duration(), now, colours);
  }

  function redraw() {
    if (!waiting) requestAnimationFrame(draw);
    waiting = true;
  }

  function goTo(time) {
    now = Math.min(Math.max(time, 0), duration());
    slider.value = String(Math.round(now));
    const seconds = `${(now / 1000).toFixed(3)} s`;
    slider.setAttribute("aria-valuetext", seconds);
    clock.textContent = seconds;
    readout.textContent = view.words(toss, now);
    redraw();
  }

  function setPlaying(playing) {
    if (playing && now >= duration()) now = 0;
    play.dataset.playing = String(playing);
    play.textContent = playing ? "Pause" : "Play";
    readout.setAttribute("aria-live", playing ? "off" : "polite"); // sixty readings a second say nothing
    since = null;
    if (playing) requestAnimationFrame(tick);
  }

  const isPlaying = () => play.dataset.playing === "true";

  function tick(stamp) {
    if (!isPlaying()) return;
    const passed = since === null ? 0 : stamp - since;
    since = stamp;
    goTo(now + passed * Number(speed.value));
    if (now >= duration()) setPlaying(false);
    else requestAnimationFrame(tick);
  }

  function choose(number) {
    toss = tosses[number];
    slider.max = String(Math.round(duration()));
    about.textContent = toss.about;
    view.show(toss);
    goTo(0);
  }

  play.addEventListener("click", () => setPlaying(!isPlaying()));
  slider.addEventListener("input", () => {
    setPlaying(false);
    goTo(Number(slider.value));
  });
  choice.addEventListener("change", () => {
    setPlaying(false);
    choose(Number(choice.value));
  });
  find(".view").addEventListener("click", () => view.press());
  for (const button of root.querySelectorAll("[data-key]")) {
    button.addEventListener("click", () => view.key(button.dataset.key));
  }
  scene.addEventListener("keydown", (event) => {
    if (event.key === " ") setPlaying(!isPlaying());
    else if (!view.key(event.key)) return;
    event.preventDefault();
  });
  const seek = (event) => {
    if (!event.buttons) return;
    setPlaying(false);
    goTo(((event.offsetX - 8) / (curve.clientWidth - 16)) * duration());
  };
  curve.addEventListener("pointerdown", seek);
  curve.addEventListener("pointermove", seek);
  new ResizeObserver(() => {
    view.show(toss);
    redraw();
  }).observe(scene);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  window.addEventListener("beforeprint", draw);
  choose(Number(choice.value));
}
