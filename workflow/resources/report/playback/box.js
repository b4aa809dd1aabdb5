// A measured toss of a box beside the predicted one, in three dimensions; lengths in mm, the ground is z = 0.

const GRID = 100; // mm
const EYE = 3.5; // distance of the eye, in radii of what is shown
const TURN = 5; // degrees per key

/** Corners of a body at a pose x, y, z, qw, qx, qy, qz. */
function cornersAt(vertices, [px, py, pz, w, x, y, z]) {
  const turn = [
    [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
    [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
    [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
  ];
  const place = [px, py, pz];
  return vertices.map((v) => turn.map((row, k) => place[k] + row[0] * v[0] + row[1] * v[1] + row[2] * v[2]));
}

/** Pose between two samples; the quaternion is mixed and made a unit one again. */
function poseAt(times, poses, now) {
  const [low, high, share] = between(times, now);
  const pose = poses[low].map((value, k) => mix(value, poses[high][k], share));
  const size = Math.hypot(...pose.slice(3));
  return pose.map((value, k) => (k < 3 ? value : value / size));
}

/** Convex outline of points in the plane, in order. */
function outlineOf(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list) => {
    const kept = [];
    for (const p of list) {
      for (let n = kept.length; n > 1; n = kept.length) {
        const [a, b] = [kept[n - 2], kept[n - 1]];
        if ((b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
        kept.pop();
      }
      kept.push(p);
    }
    return kept.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

const areaOf = (points) =>
  points.reduce((sum, [x, y], k) => {
    const [u, v] = points[(k + 1) % points.length];
    return sum + x * v - u * y;
  }, 0);

function makeBoxView(root, redraw) {
  const scene = root.querySelector(".scene");
  const camera = { azimuth: 0, elevation: 22, zoom: 1 };
  let [middle, radius, reach, lowest, highest] = [[0, 0, 0], 1, 1, [0, 0], [1, 1]];
  let [shown, fitted] = [null, null];

  /** What a toss needs in view: all places of both boxes. */
  function show(toss) {
    if (toss === shown) return;
    shown = toss;
    reach = Math.max(...toss.vertices.map((v) => Math.hypot(...v)));
    const places = [...toss.measured, ...toss.predicted];
    const ends = [0, 1, 2].map((k) => [Math.min(...places.map((p) => p[k])), Math.max(...places.map((p) => p[k]))]);
    middle = [mix(...ends[0], 0.5), mix(...ends[1], 0.5), ends[2][1] / 2];
    radius = Math.hypot(ends[0][1] - ends[0][0], ends[1][1] - ends[1][0], ends[2][1]) / 2 + reach;
    lowest = [0, 1].map((k) => Math.floor((ends[k][0] - 1.5 * reach) / GRID) * GRID);
    highest = [0, 1].map((k) => Math.ceil((ends[k][1] + 1.5 * reach) / GRID) * GRID);
    straighten();
  }

  /** Look across the way that the box takes. */
  function straighten() {
    const [first, last] = [shown.measured[0], shown.measured[shown.measured.length - 1]];
    camera.azimuth = (Math.atan2(last[1] - first[1], last[0] - first[0]) * 180) / Math.PI + 18;
    camera.elevation = 22;
    camera.zoom = 1;
    fitted = null;
    redraw();
  }

  /** Scale and middle of the sheet at which all places of both boxes fill it. */
  function fit(width, height) {
    const { flat } = projection({ scale: 1, x: 0, y: 0 });
    const places = [...shown.measured, ...shown.predicted].map(([x, y, z]) => flat([x, y, z]));
    const [low, high] = [Math.min, Math.max].map((end) => [0, 1].map((k) => end(...places.map((p) => p[k]))));
    const wide = [0, 1].map((k) => high[k] - low[k] + 2.2 * reach);
    const scale = Math.min((width - 16) / wide[0], (height - 48) / wide[1]);
    return {
      width, height, scale,
      x: width / 2 - (scale * (low[0] + high[0])) / 2,
      y: height / 2 - (scale * (low[1] + high[1])) / 2,
    };
  }

  function projection(sheet) {
    const [a, e] = [camera.azimuth, camera.elevation].map((angle) => (angle * Math.PI) / 180);
    const right = [Math.cos(a), Math.sin(a), 0];
    const ahead = [-Math.sin(a) * Math.cos(e), Math.cos(a) * Math.cos(e), -Math.sin(e)];
    const up = [-Math.sin(a) * Math.sin(e), Math.cos(a) * Math.sin(e), Math.cos(e)];
    const along = (axis, p) => axis[0] * (p[0] - middle[0]) + axis[1] * (p[1] - middle[1]) + axis[2] * (p[2] - middle[2]);
    const eye = EYE * radius;
    const scale = camera.zoom * sheet.scale;
    const depth = (p) => along(ahead, p);
    const flat = (p) => {
      const near = (scale * eye) / (eye + depth(p));
      return [sheet.x + near * along(right, p), sheet.y - near * along(up, p)];
    };
    return { flat, depth };
  }

  function drawGround(context, flat, toss, now, colours) {
    const floor = [lowest, [highest[0], lowest[1]], highest, [lowest[0], highest[1]]];
    fill(context, floor.map(([x, y]) => flat([x, y, 0])), colours.ground, 1);
    // lines lie on the surface and move with it
    for (const k of [0, 1]) {
      const moved = (((toss.surface_velocity[k] * now) / 1000) % GRID + GRID) % GRID;
      for (let line = lowest[k] + moved; line <= highest[k] + 1e-6; line += GRID) {
        const ends = [lowest[1 - k], highest[1 - k]].map((other) => flat(k ? [other, line, 0] : [line, other, 0]));
        stroke(context, ends, colours.faint, 1);
      }
    }
  }

  function drawBox(context, { flat }, toss, corners, colour, solid) {
    const flats = corners.map(flat);
    const visible = toss.faces.map((face) => areaOf(face.map((k) => flats[k])) < 0);
    const outline = (face) => [...face, face[0]].map((k) => flats[k]);
    context.globalAlpha = 0.4;
    toss.faces.forEach((face, k) => visible[k] || stroke(context, outline(face), colour, 1, solid ? [] : [4, 4]));
    context.globalAlpha = 1;
    // one face is darker, so that a turn of the box is seen
    toss.faces.forEach((face, k) => visible[k] && fill(context, outline(face), colour, k ? 0.16 : 0.5));
    toss.faces.forEach((face, k) => visible[k] && stroke(context, outline(face), colour, 2.2, solid ? [] : [7, 4]));
  }

  function draw({ context, width, height }, toss, now, colours) {
    if (fitted?.width !== width || fitted.height !== height) fitted = fit(width, height);
    const view = projection(fitted);
    drawGround(context, view.flat, toss, now, colours);
    const boxes = ["measured", "predicted"].map((name) => {
      const pose = poseAt(toss.time_ms, toss[name], now);
      return { name, pose, corners: cornersAt(toss.vertices, pose) };
    });
    for (const { corners } of boxes) {
      fill(context, outlineOf(corners.map(([x, y]) => view.flat([x, y, 0]))), colours.ink, 0.16);
    }
    for (const { name } of boxes) {
      stroke(context, toss[name].map(view.flat), colours[name], 1.3, name === "measured" ? [] : [5, 4]);
    }
    boxes.sort((a, b) => view.depth(b.pose) - view.depth(a.pose));
    for (const { name, corners } of boxes) {
      drawBox(context, view, toss, corners, colours[name], name === "measured");
    }
    for (const { name, pose } of boxes) {
      const [x, y] = view.flat(pose);
      context.beginPath();
      context.arc(x, y, 3, 0, 7);
      context.fillStyle = colours[name];
      context.fill();
    }
    context.fillStyle = colours.ink;
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "left";
    context.fillText(`Lines on the surface are ${GRID} mm apart`, 10, height - 10);
  }

  function words(toss, now) {
    const [low, high, share] = between(toss.time_ms, now);
    const [place, angle] = [toss.position_error_mm, toss.angle_error_deg].map((e) => mix(e[low], e[high], share));
    return `Position error ${place.toFixed(1)} mm, angle error ${angle.toFixed(1)}°`;
  }

  const curves = (toss) => [
    { label: "Position error", times: toss.time_ms, values: toss.position_error_mm, unit: (e) => `${e.toFixed(1)} mm` },
    { label: "Angle error", times: toss.time_ms, values: toss.angle_error_deg, unit: (e) => `${e.toFixed(1)}°` },
  ];

  function turn(azimuth, elevation) {
    camera.azimuth += azimuth;
    camera.elevation = Math.min(Math.max(camera.elevation + elevation, 3), 89);
    redraw();
    return true;
  }

  function zoom(factor) {
    camera.zoom = Math.min(Math.max(camera.zoom * factor, 0.5), 5);
    redraw();
    return true;
  }

  function key(name) {
    if (PLAIN.includes(name)) straighten();
    const turns = { ArrowLeft: [TURN, 0], ArrowRight: [-TURN, 0], ArrowUp: [0, TURN], ArrowDown: [0, -TURN] };
    if (name in turns) return turn(...turns[name]);
    if (name === "+" || name === "=") return zoom(1.15);
    return name === "-" ? zoom(1 / 1.15) : PLAIN.includes(name);
  }

  scene.addEventListener("pointerdown", (event) => scene.setPointerCapture(event.pointerId));
  scene.addEventListener("pointermove", (event) => {
    if (event.buttons) turn(-event.movementX * 0.4, event.movementY * 0.4);
  });
  return { show, draw, words, curves, key, press: straighten };
}
