"""The report as a printer gets it: the browser's own command, which waits for nothing but the page."""

import base64
import gzip
import random
import re
import subprocess
import zlib

import pytest

pytestmark = pytest.mark.browser
PATIENCE = 300  # s; a loaded machine is slow, not wrong
PICTURES = ".picture img"


def print_by_command(chromium, page, pdf):
    """Print as `chromium --print-to-pdf` does, without a word about waiting."""
    command = [chromium, "--headless", "--no-sandbox", "--no-pdf-header-footer"]
    subprocess.run([*command, f"--print-to-pdf={pdf}", page.as_uri()], check=True, timeout=PATIENCE)
    return pdf.read_bytes()


def images_in(pdf):
    """How many images it holds: the sign of a broken picture is one, and a picture may hold some."""
    return len(re.findall(rb"/Subtype\s*/Image", pdf))


def test_a_printer_gets_every_picture(chromium, report, opened, tmp_path):
    printed = print_by_command(chromium, report, tmp_path / "report.pdf")
    with opened() as it:
        assert it.page.locator(PICTURES).count() > 10
        # this print begins when every picture is loaded
        it.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        it.page.wait_for_function(
            f"() => [...document.querySelectorAll('{PICTURES}')]"
            ".every((image) => image.complete && image.naturalWidth > 0)"
        )
        it.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        margin = dict.fromkeys(("top", "right", "bottom", "left"), "1cm")
        whole = it.page.pdf(format="Letter", margin=margin, tagged=True)
    assert images_in(printed) == images_in(whole)
    assert len(printed) == pytest.approx(len(whole), rel=0.05)


@pytest.mark.parametrize("way", ["stored", "fixed", "own", "own, of many blocks"])
def test_what_is_compressed_is_inflated(opened, way):
    chance = random.Random(20)
    words = [chance.randbytes(chance.randrange(1, 40)) for _ in range(300)]
    content = b"".join(
        chance.choice(words) for _ in range(20_000 if "many" in way else 400)
    ) + bytes(70_000)
    if way == "stored":
        packed = gzip.compress(content, 0, mtime=0)
    elif way == "fixed":
        packing = zlib.compressobj(9, zlib.DEFLATED, 31, strategy=zlib.Z_FIXED)
        packed = packing.compress(content) + packing.flush()
    else:
        packed = gzip.compress(content, 9, mtime=0)
    with opened() as it:
        found = it.page.evaluate(
            """(packed) => {
                const bytes = inflate(Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0)));
                return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
            }""",
            base64.b64encode(packed).decode(),
        )
    assert bytes.fromhex(found) == content
