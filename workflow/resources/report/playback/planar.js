// A measured throw of a planar body beside the identified one; lengths in mm, y up.

const GLOW = 0.06; // share of the throw's time for which an impulse stays bright
const CLOSE = 3.2; // sizes of the body across, where the view follows it

function makePlanarView(root, redraw) {
  const button = root.querySelector(".view");
  let [shown, size, ends, strongest] = [null, 1, [], 1];

  /** Outline of the body at x, y, theta, and the ends of its first axis. */
  function outlineAt(toss, [x, y, theta]) {
    const [c, s] = [Math.cos(theta), Math.sin(theta)];
    const place = ([u, v]) => [x + c * u - s * v, y + s * u + c * v];
    const own = toss.vertices
      ? [...toss.vertices, toss.vertices[0]]
      : Array.from({ length: 73 }, (_, k) => (k * Math.PI) / 36).map((angle) => [
          toss.semi_axes[0] * Math.cos(angle), toss.semi_axes[1] * Math.sin(angle),
        ]);
    const half = toss.vertices ? Math.max(...toss.vertices.map((v) => v[0])) : toss.semi_axes[0];
    return { outline: own.map(place), axis: [[-half, 0], [half, 0]].map(place) };
  }

  function show(toss) {
    if (toss === shown) return;
    shown = toss;
    size = 2 * Math.max(...(toss.vertices ? toss.vertices.map((v) => Math.hypot(...v)) : toss.semi_axes));
    strongest = Math.max(...toss.contacts.map((hit) => Math.hypot(hit.normal, hit.tangential)), 1e-9);
    const places = [...toss.identified, ...toss.measured];
    ends = [0, 1].map((k) => [
      Math.min(...places.map((q) => q[k]), ...(k ? toss.contacts.map((hit) => hit.y) : [])) - size / 2,
      Math.max(...places.map((q) => q[k])) + size / 2,
    ]);
  }

  const poseNow = (toss, now) => {
    const [low, high, share] = between(toss.time_ms, now);
    return toss.identified[low].map((value, k) => mix(value, toss.identified[high][k], share));
  };

  /** Place on the sheet of a place in the world: all of the throw, or the body from near by. */
  function projection(width, height, pose) {
    const follows = button.getAttribute("aria-pressed") === "true";
    const middle = follows ? pose : ends.map((pair) => mix(...pair, 0.5));
    const scale = follows
      ? Math.min(width, height * 1.8) / (CLOSE * size)
      : Math.min((width - 16) / (ends[0][1] - ends[0][0]), (height - 40) / (ends[1][1] - ends[1][0]));
    return { scale, flat: ([x, y]) => [width / 2 + scale * (x - middle[0]), height / 2 - scale * (y - middle[1])] };
  }

  function drawGround(context, flat, toss, width, height, scale, colours) {
    const [slope, x0, y0] = toss.ground;
    const at = (along) => [x0 + along * Math.cos(slope), y0 + along * Math.sin(slope)];
    const far = 20 * size + Math.abs(ends[0][0] - x0) + Math.abs(ends[0][1] - x0);
    const [left, right] = [at(-far), at(far)].map(flat);
    fill(context, [left, right, [right[0], height + far], [left[0], height + far]], colours.ground, 1);
    stroke(context, [left, right], colours.ink, 1.5);
    const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((mm) => mm * scale > 36) || 1000;
    for (let mark = Math.ceil(-far / step) * step; mark < far; mark += step) {
      const [x, y] = flat(at(mark));
      if (x > 0 && x < width) stroke(context, [[x, y], [x, y + 6]], colours.ink, 1);
    }
    context.fillStyle = colours.ink;
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "left";
    context.fillText(`Marks on the ground are ${step} mm apart`, 10, height - 8);
  }

  function drawContacts(context, flat, toss, now, colours) {
    const slope = toss.ground[0];
    const duration = toss.time_ms[toss.time_ms.length - 1];
    for (const hit of toss.contacts.filter(({ time_ms }) => time_ms <= now)) {
      const [x, y] = flat([hit.x, hit.y]);
      const bright = 1 - (now - hit.time_ms) / (GLOW * duration);
      context.globalAlpha = Math.max(bright, 0.3);
      context.beginPath();
      context.arc(x, y, bright > 0 ? 7 : 3, 0, 7);
      context.fillStyle = colours.contact;
      context.fill();
      if (bright > 0) {
        const long = 60 / strongest;
        const [t, n] = [hit.tangential * long, hit.normal * long];
        const tip = [x + t * Math.cos(slope) - n * Math.sin(slope), y - t * Math.sin(slope) - n * Math.cos(slope)];
        stroke(context, [[x, y], tip], colours.contact, 4);
      }
      context.globalAlpha = 1;
    }
  }

  function draw({ context, width, height }, toss, now, colours) {
    const pose = poseNow(toss, now);
    const { flat, scale } = projection(width, height, pose);
    drawGround(context, flat, toss, width, height, scale, colours);
    stroke(context, toss.identified.map(flat), colours.predicted, 1, [5, 4]);
    const frame = lastBefore(toss.frame_ms, now);
    context.fillStyle = colours.measured;
    for (const q of toss.measured.slice(0, frame + 1)) {
      const [x, y] = flat(q);
      context.fillRect(x - 2, y - 2, 4, 4);
    }
    drawContacts(context, flat, toss, now, colours);
    // between frames nothing is measured: the last outline stays and pales
    const pale = 1 - 0.8 * between(toss.frame_ms, now)[2];
    const bodies = [
      [outlineAt(toss, toss.measured[frame]), colours.measured, [], pale],
      [outlineAt(toss, pose), colours.predicted, [7, 4], 1],
    ];
    for (const [{ outline, axis }, colour, dash, alpha] of bodies) {
      fill(context, outline.map(flat), colour, 0.14 * alpha);
      context.globalAlpha = alpha;
      stroke(context, outline.map(flat), colour, 2.2, dash);
      stroke(context, axis.map(flat), colour, 1.3, dash);
      context.globalAlpha = 1;
    }
  }

  function words(toss, now) {
    const frame = lastBefore(toss.frame_ms, now);
    const [place, angle] = [toss.position_error_mm, toss.angle_error_deg].map((errors) => errors[frame]);
    const recent = toss.contacts.filter(({ time_ms }) => time_ms <= now && now - time_ms < GLOW * toss.time_ms.at(-1));
    const hit = recent.sort((a, b) => b.normal - a.normal)[0];
    const push = hit
      ? `contact: impulse ${hit.normal.toFixed(2)} normal, ${hit.tangential.toFixed(2)} tangential, ${toss.impulse_unit}`
      : "no contact";
    const at = `Frame ${frame + 1} of ${toss.frame_ms.length}`;
    return `${at}: position error ${place.toFixed(2)} mm, angle error ${angle.toFixed(2)}°; ${push}`;
  }

  const curves = (toss, colours) => [
    {
      label: "Position error at the frames", times: toss.frame_ms, values: toss.position_error_mm, dots: true,
      colour: colours.faint, unit: (e) => `${e.toFixed(2)} mm`,
    },
    {
      label: "Normal impulse", times: toss.contacts.map((hit) => hit.time_ms), bars: true,
      values: toss.contacts.map((hit) => hit.normal), unit: (c) => `${c.toFixed(2)} ${toss.impulse_unit}`,
    },
  ];

  function press() {
    button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
    redraw();
  }

  return { show, draw, words, curves, key: () => false, press };
}
