#!/usr/bin/env python3
"""Opens HTML reports in a real Chromium: browser.py BINARY MODELS WORK_FOLDER

Installs Chromium and Playwright; leaves screenshots in WORK_FOLDER. Exit code 77 unless
FOOTPRINT_HEAVY_TESTS is set.
"""

import json
import subprocess
import sys
from pathlib import Path

from partners import continue_with_partners, launch


def report(binary: str, model: Path, output: Path, *more: str) -> dict:
    for name in ("html", "json"):
        subprocess.run([binary, "analyze", str(model), *more, "--format", name, "--output",
                        str(output.with_suffix("." + name))], check=True, capture_output=True)
    return json.loads(output.with_suffix(".json").read_text())


def check(condition: bool, what: str) -> None:
    if not condition:
        sys.exit(f"browser: {what}")


def check_tables(page, figures: dict) -> None:
    largest = max(figures["tensors"], key=lambda tensor: tensor["bytes"])
    row = page.locator("#tensors tbody tr").first.inner_text()
    check(f"{largest['bytes']:,}" in row, f"the largest tensor is not first: {row}")
    page.get_by_label("Search in Tensors").fill(largest["name"])
    page.wait_for_timeout(500)
    check(largest["name"] in page.locator("#tensors tbody tr").first.inner_text(), "search")
    for name in ("training", "inference"):
        live = figures[name]["peak"]["live"]
        rows = page.get_by_role("region", name=f"Alive at the peak of {name}").locator("tbody tr")
        check(live[0]["name"] in rows.first.inner_text(), f"alive at the peak of {name}")
        slider = page.get_by_label(f"Step of {name}")
        slider.press("Home")
        slider.press("ArrowRight")
        check(int(slider.input_value()) == 1, "the slider does not follow the keyboard")
    page.locator("#layers button.go").last.press("Enter")
    check(page.locator("#layers nav [aria-current]").count() == 1, "the treemap's path")


def check_sweep(page, sweep: dict) -> None:
    rows = page.get_by_role("region", name="Values of " + sweep["dimension"]).locator("tbody tr")
    check(rows.count() == min(25, len(sweep["points"])), "a page of values")
    check(f"{sweep['points'][0]['training_peak_bytes']:,}" in rows.first.inner_text(), "a value")
    check(sweep["pieces"][0]["peak_expression"] in page.locator("#sweep").inner_text(), "formula")


def check_page(browser, output: Path, figures: dict, scheme: str, width: int) -> None:
    context = browser.new_context(color_scheme=scheme, offline=True,
                                  viewport={"width": width, "height": 900})
    page = context.new_page()
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(output.with_suffix(".html").as_uri())
    page.wait_for_selector("html[data-ready]", timeout=30000)
    page.screenshot(path=str(output) + f".{scheme}.{width}.png", full_page=True)
    charts = 4 if figures["sweep"] else 3
    check(page.locator("canvas").count() == charts, "two timelines, a treemap and a sweep")
    if figures["sweep"]:
        check_sweep(page, figures["sweep"])
    check(page.evaluate("document.documentElement.scrollWidth") <= width, f"wider than {width}")
    check_tables(page, figures)
    check(not said, f"the console says {said}")
    check(len(asked) == 1, f"requests: {asked}")
    context.close()


def main() -> None:
    binary, models, work = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    work.mkdir(parents=True, exist_ok=True)
    continue_with_partners(work)
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        browser = launch(playwright)
        for name, *more in (("mobilenet_v2",), ("gpt2_xl", "--dim", "sequence=1024"),
                            ("resnet50", "--dim", "batch=1..64")):
            output = work / name
            figures = report(binary, models / f"{name}.train_loss.onnx", output, *more)
            for scheme, width in (("light", 1280), ("dark", 1280), ("light", 390)):
                check_page(browser, output, figures, scheme, width)
        browser.close()


if __name__ == "__main__":
    main()
