"""Playing tosses: time passes, boxes move, another toss can be chosen, by mouse and by keyboard."""

import json
import re

import pytest
from screens import NARROW, WIDE

pytestmark = pytest.mark.browser
KINDS = ("box", "planar")


def picture(player, canvas=".scene"):
    """The canvas as it is drawn now."""
    player.page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    return player.locator(canvas).evaluate("canvas => canvas.toDataURL()")


def player_of(page, kind):
    player = page.locator(f"[data-playback={kind}]")
    player.scroll_into_view_if_needed()
    assert player.count() == 1
    return player


def shown_time(player):
    return float(player.locator("input[type=range].time").input_value())


@pytest.mark.parametrize("kind", KINDS)
def test_play_moves_time_scene_and_readout(opened, kind):
    with opened(place="#playback") as it:
        player = player_of(it.page, kind)
        assert shown_time(player) == 0
        before, readout, curve = (
            picture(player),
            player.locator(".readout").inner_text(),
            picture(player, ".curve"),
        )
        play = player.locator("button.play")
        assert play.get_attribute("data-playing") == "false", "nothing moves by itself"
        player.locator("select.speed").select_option(index=0)
        play.click()
        assert play.get_attribute("data-playing") == "true"
        end = float(player.locator(".time").get_attribute("max"))
        it.page.wait_for_function(
            "kind => { const time = document.querySelector(`[data-playback=${kind}] .time`);"
            " return Number(time.value) > 0.5 * Number(time.max); }",
            arg=kind,
        )
        assert picture(player) != before and picture(player, ".curve") != curve
        assert player.locator(".readout").inner_text() != readout
        it.page.wait_for_function(
            "kind => document.querySelector(`[data-playback=${kind}] .play`).dataset.playing === 'false'",
            arg=kind,
        )
        assert shown_time(player) == pytest.approx(end, abs=1.0), "it stops at the end"


@pytest.mark.parametrize("kind", KINDS)
def test_pause_stops_and_the_slider_leads_to_a_time(opened, kind):
    with opened(place="#playback") as it:
        player = player_of(it.page, kind)
        player.locator("select.speed").select_option(index=3)
        play = player.locator("button.play")
        play.click()
        # paused from within, since a loaded machine may come to the end before a click arrives from
        # outside
        it.page.wait_for_function(
            "kind => { const player = document.querySelector(`[data-playback=${kind}]`);"
            " if (!(Number(player.querySelector('.time').value) > 0)) return false;"
            " player.querySelector('.play').click(); return true; }",
            arg=kind,
        )
        assert play.get_attribute("data-playing") == "false"
        stopped, still = shown_time(player), picture(player)
        it.page.wait_for_timeout(300)
        assert shown_time(player) == stopped and picture(player) == still
        end = float(player.locator(".time").get_attribute("max"))
        player.locator(".time").fill(str(round(0.75 * end)))
        assert picture(player) != still
        assert player.locator(".clock").inner_text() == f"{round(0.75 * end) / 1000:.3f} s"
        assert "mm" in player.locator(".readout").inner_text()


@pytest.mark.parametrize("kind", KINDS)
def test_the_readout_says_the_errors_of_the_time(opened, kind):
    with opened(place="#playback") as it:
        player = player_of(it.page, kind)
        tosses = json.loads(player.locator("script.data").text_content())["tosses"]
        for number, toss in enumerate(tosses):
            player.locator("select.toss").select_option(str(number))
            times = toss["time_ms"] if kind == "box" else toss["frame_ms"]
            whole = [
                k for k, time in enumerate(times) if float(time).is_integer()
            ]  # where the slider can stand
            assert len(whole) > 1
            for k in {whole[0], whole[len(whole) // 2], whole[-1]}:
                player.locator(".time").fill(str(int(times[k])))
                said = player.locator(".readout").inner_text()
                place, angle = (
                    float(x)
                    for x in re.search(r"([\d.]+) mm, angle error ([\d.]+)°", said).groups()
                )
                assert place == pytest.approx(toss["position_error_mm"][k], abs=0.051)
                assert angle == pytest.approx(toss["angle_error_deg"][k], abs=0.051)


@pytest.mark.parametrize("kind", KINDS)
def test_another_toss_can_be_chosen(opened, kind):
    with opened(place="#playback") as it:
        player = player_of(it.page, kind)
        choice = player.locator("select.toss")
        count = choice.locator("option").count()
        assert count > 1
        pictures, abouts = set(), set()
        for number in range(count):
            choice.select_option(str(number))
            end = float(player.locator(".time").get_attribute("max"))
            player.locator(".time").fill(str(round(end)))
            pictures.add(picture(player))
            abouts.add(player.locator(".about").inner_text())
        assert len(pictures) == len(abouts) == count
        assert all(text.startswith(("SYNTHETIC", "Measured")) for text in abouts)


def test_a_drag_and_keys_turn_the_box(opened):
    with opened(place="#playback") as it:
        player = player_of(it.page, "box")
        scene = player.locator(".scene")
        scene.scroll_into_view_if_needed()
        first = picture(player)
        place = scene.bounding_box()
        it.page.mouse.move(place["x"] + 200, place["y"] + 100)
        it.page.mouse.down()
        it.page.mouse.move(place["x"] + 260, place["y"] + 120, steps=4)
        it.page.mouse.up()
        dragged = picture(player)
        scene.focus()
        it.page.keyboard.press("ArrowLeft")
        turned = picture(player)
        it.page.keyboard.press("+")
        near = picture(player)
        assert len({first, dragged, turned, near}) == 4
        player.locator("button.view").click()
        assert picture(player) == first
        it.page.keyboard.press("Tab")
        scene.focus()
        it.page.keyboard.press(" ")
        assert player.locator("button.play").get_attribute("data-playing") == "true"


def test_the_planar_view_follows_the_body(opened):
    with opened(place="#playback") as it:
        player = player_of(it.page, "planar")
        whole = picture(player)
        button = player.locator("button.view")
        button.click()
        assert button.get_attribute("aria-pressed") == "true" and picture(player) != whole


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["phone", "desktop"])
def test_scenes_use_the_colours_of_their_legend(opened, size):
    """Measured and predicted are both drawn, on a phone and on a desktop."""
    with opened(size, place="#playback") as it:
        for kind in KINDS:
            player = player_of(it.page, kind)
            end = float(player.locator(".time").get_attribute("max"))
            player.locator(".time").fill(str(round(end)))
            picture(player)
            shares = player.evaluate(
                """(root) => {
                    const canvas = root.querySelector('.scene');
                    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
                    const style = getComputedStyle(root);
                    return ['measured', 'predicted'].map((name) => {
                        const hex = style.getPropertyValue(`--playback-${name}`).trim().slice(1);
                        const [r, g, b] = [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16));
                        let found = 0;
                        for (let k = 0; k < pixels.length; k += 4) {
                            const away = [r, g, b].map((value, i) => Math.abs(pixels[k + i] - value));
                            if (Math.max(...away) < 10) found += 1;
                        }
                        return found;
                    });
                }"""
            )
            assert min(shares) > 30, (kind, shares)
