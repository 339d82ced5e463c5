"""Tests of roofline.py on made-up results: machine "Synthetic", round numbers, nothing measured."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path
from unittest import mock

from matplotlib.backends.backend_agg import FigureCanvasAgg

sys.path.insert(0, str(Path(__file__).resolve().parent))
import chart as marks  # noqa: E402
import places  # noqa: E402
import roofline  # noqa: E402
from points import TITLES, gbytes, labs  # noqa: E402

ROOFS = {"copy_gbs": 10.0, "read_gbs": 12.0, "fma_gflops": 100.0, "exp_gops": 1.0}


OPERATOR_OF = {"lab08_rms_norm": ("rms_norm", 4), "lab08b_cross_entropy": ("cross_entropy", 7), "lab08c_layer_norm": ("layer_norm", 8)}


def point(lab: str, variant: str, gbs: float, dtype: str = "f32", k: int = 0, source: str = "solution",
          cols: int = 4096, rows: int = 64, kind: str = "normal") -> dict:
    """A point that moves its nominal bytes at `gbs`."""
    width = 4 if dtype == "f32" else 2
    moved = rows * (cols * width + 8 * k) if k else 2 * rows * cols * width
    op, flops = OPERATOR_OF.get(lab, ("softmax_topk" if k else "softmax", 5))
    return {"source": source, "lab": lab, "variant": variant, "op": op, "dtype": dtype,
            "input": kind, "rows": rows, "cols": cols, "k": k, "seconds": moved / gbs / 1e9, "launches": 1,
            "nominal_bytes": moved, "nominal_flops": flops * rows * cols, "note": ""}


def counted(each: dict, l1: float, footprint: float = 0) -> dict:
    """The point with counts: bytes per element at L1 and of footprint (default: the nominal bytes)."""
    elements = each["rows"] * each["cols"]
    return {**each, "l1_bytes": l1 * elements, "footprint_bytes": footprint * elements or each["nominal_bytes"],
            "counted_rows": 8}


def counted_points() -> list[dict]:
    """dense_points with counts such as those kernels have."""
    bytes_at_l1 = {"per_element": 8200, "per_row": 128, "warp_shuffle": 8, "online": 12, "online_f32x4": 12, "f16": 6,
                   "f16x2": 6, "f16x8": 6, "three_pass": 12.1}
    result = []
    for each in dense_points():
        l1 = bytes_at_l1.get(each["variant"], 8)
        if each["k"]:
            l1 = (12.1 if each["variant"] == "three_pass" else 4.1) * (1 if each["dtype"] == "f32" else 0.5)
        result.append(counted(each, l1))
    return result


def dense_points() -> list[dict]:
    """Every variant of five labs, many at almost the same height, and the student's own for two labs."""
    points = [point("lab01_naive", "per_element", 0.001), point("lab01_naive", "per_row", 1.0)]
    points += [point("lab02_smem", name, gbs) for name, gbs in (("serial", 0.9), ("tree", 1.0), ("tree_f32x4", 1.01))]
    points += [point("lab03_online", name, 1.02) for name in ("warp_shuffle", "online", "online_f32x4")]
    points += [point("lab04_f16x8", name, 0.8, "f16") for name in ("f16", "f16x2", "f16x8")]
    points += [point("lab05_topk", name, 0.5, dtype, k=8) for name in ("three_pass", "online")
               for dtype in ("f32", "f16", "bf16")]
    points += [point("lab02_smem", "tree", 1.0, source="student"),
               point("lab05_topk", "online", 0.5, "bf16", 8, "student")]
    return points


def points_of_lab08(source: str = "solution") -> list[dict]:
    return [point(lab, "auto", gbs, dtype, source=source) for lab, gbs in zip(OPERATOR_OF, (8.0, 7.0, 7.5)) for dtype in ("f32", "f16", "bf16")]


def synthetic(points: list[dict] | None = None, roofs: dict | None = None) -> dict:
    return {"machine": "Synthetic machine, 0 cores", "backend": "cpu", "date": "2000-01-01", "command": "none",
            "roofs": dict(roofs or ROOFS), "points": dense_points() if points is None else points}


def corners(text: object, renderer: object) -> list[tuple[float, float]]:
    """The four corners in pixels of a text's box, turned as the text is."""
    from matplotlib.transforms import Affine2D
    angle = text.get_rotation()
    slanted = angle % 90 != 0
    if slanted:
        text.set_rotation(0)
    box = text.get_window_extent(renderer)
    straight = [(box.x0, box.y0), (box.x1, box.y0), (box.x1, box.y1), (box.x0, box.y1)]
    if not slanted:
        return straight
    text.set_rotation(angle)
    turned = Affine2D().rotate_deg_around(*text.get_transform().transform(text.get_position()), angle)
    return [tuple(turned.transform(corner)) for corner in straight]


def overlap(a: list[tuple], b: list[tuple], slack: float = 1.0) -> bool:
    """Whether two convex quadrilaterals share more than `slack` pixels (separating axes)."""
    for shape in (a, b):
        for (x0, y0), (x1, y1) in zip(shape, shape[1:] + shape[:1]):
            normal = (y1 - y0, x0 - x1)
            length = (normal[0] ** 2 + normal[1] ** 2) ** 0.5
            along_a = [(x * normal[0] + y * normal[1]) / length for x, y in a]
            along_b = [(x * normal[0] + y * normal[1]) / length for x, y in b]
            if max(along_a) <= min(along_b) + slack or max(along_b) <= min(along_a) + slack:
                return False
    return True


def visible_texts(chart: roofline.Chart) -> list:
    """Every text of the figure with something in it: labels, tick labels, axis labels, the key."""
    from matplotlib.text import Text
    hidden = set()  # tick labels beyond the axes' limits exist but are not drawn
    for axis in (chart.roofline.xaxis, chart.roofline.yaxis, chart.steps.xaxis, chart.steps.yaxis):
        low, high = sorted(axis.get_view_interval())
        hidden |= {id(tick.label1) for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high}
    return [text for text in chart.figure.findobj(Text)
            if text.get_visible() and text.get_text().strip() and id(text) not in hidden]


class Layout(unittest.TestCase):
    def check_no_overlap(self, table: dict, **shape: object) -> None:
        chart = roofline.draw(table, **shape)
        canvas = FigureCanvasAgg(chart.figure)
        canvas.draw()
        renderer = canvas.get_renderer()
        texts = visible_texts(chart)
        boxes = [(text.get_text(), corners(text, renderer)) for text in texts]
        self.assertGreater(len(boxes), 2 * len(chart.ladder))
        for (name_a, a), (name_b, b) in itertools.combinations(boxes, 2):
            self.assertFalse(overlap(a, b), f"{name_a!r} at {a} overlaps {name_b!r} at {b}")
        width, height = canvas.get_width_height()
        for name, box in boxes:
            self.assertTrue(all(0 <= x <= width and 0 <= y <= height for x, y in box), f"{name!r} is cut off: {box}")
        pixels = chart.roofline.transData.transform
        for each in chart.under_roofs:
            (dot, y), (tick, _) = pixels([(roofline.intensity(each), roofline.gflops(each)),
                                          (roofline.footprint_intensity(each), roofline.gflops(each))])
            span = [(dot - 3, y - 3), (tick + 3, y - 3), (tick + 3, y + 3), (dot - 3, y + 3)]
            for name, box in boxes:
                self.assertFalse(overlap(span, box), f"{name!r} covers the point of {each['variant']} or its line")

    def test_dense(self) -> None:
        self.check_no_overlap(synthetic())

    def test_counted(self) -> None:
        self.check_no_overlap(synthetic(counted_points()))

    def test_several_operators(self) -> None:
        self.check_no_overlap(synthetic(counted_points() + points_of_lab08()))
        self.check_no_overlap(synthetic(dense_points()[:11] + points_of_lab08("student")[::3]))
        self.check_no_overlap(synthetic(points_of_lab08()[:3]))

    def test_every_rung_of_a_students_too(self) -> None:
        solutions = [{**each, "k": each["k"] and 50} for each in counted_points() if each["source"] == "solution"]
        solutions += [counted(point("lab05_topk", "two_kernels", 0.3, dtype, k=50), 16) for dtype in ("f32", "f16", "bf16")]
        self.check_no_overlap(synthetic(solutions + [{**each, "source": "student"} for each in solutions]))

    def test_some_counted(self) -> None:
        self.check_no_overlap(synthetic(counted_points()[:3] + dense_points()[3:]))
        self.check_no_overlap(synthetic(dense_points()[:3] + counted_points()[3:]))

    def test_many_names_under_a_low_exp_roof(self) -> None:
        points = dense_points()[:2] + counted_points()[2:]
        for some in (points, points[1:], counted_points()[1:]):
            self.check_no_overlap(synthetic(some, {**ROOFS, "exp_gops": 0.03}))

    def test_names_beside_long_lines_at_one_height(self) -> None:
        points = [counted(point("lab01_naive", "per_row", 1.0, source=source), 128) for source in ("solution", "student")]
        self.check_no_overlap(synthetic(points))

    def test_gpu_sized_numbers(self) -> None:
        roofs = {"copy_gbs": 4000.0, "read_gbs": 4200.0, "fma_gflops": 60000.0, "exp_gops": 4000.0}
        for whole in (dense_points(), counted_points()):
            points = [dict(each, seconds=each["seconds"] / 1000) for each in whole]
            self.check_no_overlap(synthetic(points, roofs))

    def test_one_point(self) -> None:
        self.check_no_overlap(synthetic([point("lab02_smem", "tree", 1.0, source="student")]))

    def test_points_at_the_roof(self) -> None:
        self.check_no_overlap(synthetic([dict(each, seconds=each["nominal_bytes"] / 9e9) for each in dense_points()]))

    def test_only_softmax_at_the_roof(self) -> None:
        points = [point("lab03_online", "online", 9.5, source=name) for name in ("solution", "student")]
        self.check_no_overlap(synthetic(points, {**ROOFS, "exp_gops": 15.0}))

    def test_equal_roofs(self) -> None:
        self.check_no_overlap(synthetic(roofs={**ROOFS, "read_gbs": 10.0}))

    def test_spread_keeps_the_gap_and_the_bounds(self) -> None:
        places = roofline.spread([5.0, 5.0, 5.1, 9.0], 2.0, 0.0, 10.0)
        self.assertTrue(all(b - a >= 2.0 - 1e-9 for a, b in zip(places, places[1:])), places)
        self.assertTrue(0.0 <= places[0] and places[-1] <= 10.0, places)
        self.assertEqual(roofline.spread([1.0, 8.0], 2.0, 0.0, 10.0), [1.0, 8.0])

    def test_no_leader_line_crosses_another(self) -> None:
        self.assertEqual(places.uncrossed([(0.0, 0.0), (5.0, 1.0)], 10.0, [4.0, 3.0]), [4.0, 3.0])
        self.assertEqual(places.uncrossed([(0.0, 2.0), (0.0, 1.0)], 10.0, [1.0, 2.0]), [2.0, 1.0])
        # From (0, 0) to a place high up: the line passes over (5, 1), whose name stands higher still.
        self.assertEqual(places.uncrossed([(0.0, 0.0), (5.0, 1.0)], 10.0, [7.0, 8.0]), [8.0, 7.0])
        starts = [(float(i * 37 % 100), float(i * 61 % 90)) for i in range(30)]
        ends = places.uncrossed(starts, 120.0, [float(i * 3) for i in range(30)])
        self.assertEqual(sorted(ends), [float(i * 3) for i in range(30)])
        for (a, end_a), (b, end_b) in itertools.combinations(zip(starts, ends), 2):
            self.assertFalse(places.crosses(a, end_a, b, end_b, 120.0))

    def test_below_keeps_clear_of_lines_and_names(self) -> None:
        self.assertEqual(roofline.below([100.0, 50.0], 8, 13), [92.0, 42.0])
        self.assertEqual(roofline.below([100.0, 95.0], 8, 13), [87.0, 74.0])  # not at 92, which the second line crosses
        self.assertEqual(roofline.below([100.0, 100.0], 8, 13), [92.0, 79.0])


class Content(unittest.TestCase):
    def test_every_point_is_drawn_where_it_was_measured(self) -> None:
        points = dense_points()
        chart = roofline.draw(synthetic(points))
        self.assertEqual(len(chart.ladder), len(points))
        for panel, heights in ((chart.markers, roofline.gflops), (chart.step_markers, gbytes)):
            self.assertEqual(len(panel), len(points))
            drawn = [tuple(marker.get_offsets()[0]) for marker in panel]
            for each, (x, y) in zip(chart.ladder, drawn):
                value = y if heights is roofline.gflops else x
                self.assertAlmostEqual(value, heights(each))
        self.assertAlmostEqual(roofline.gflops(point("lab01_naive", "per_row", 8.0)), 5.0)

    def test_a_counted_point_stands_at_its_counted_bytes(self) -> None:
        each = counted(point("lab01_naive", "per_row", 1.0), 128, 8)
        self.assertEqual(roofline.intensity(each), 5 / 128)
        self.assertEqual(roofline.footprint_intensity(each), 5 / 8)
        naive = counted(point("lab01_naive", "per_element", 1.0), 8200, 10)
        chart = roofline.draw(synthetic([naive, each, point("lab02_smem", "tree", 1.0)]))
        drawn = [marker.get_offsets()[0] for marker in chart.markers]
        for (x, y), (want, of) in zip(drawn, ((5 / 8200, naive), (5 / 128, each))):
            self.assertAlmostEqual(x, want)
            self.assertAlmostEqual(y, roofline.gflops(of))
        self.assertEqual(len(chart.spans), 2)  # tree was not counted
        for span, of, ends in zip(chart.spans, (naive, each), ((5 / 8200, 5 / 10), (5 / 128, 5 / 8))):
            self.assertEqual(tuple(span.get_xdata()), ends)
            self.assertEqual(tuple(span.get_ydata()), (roofline.gflops(of),) * 2)

    def test_the_chart_says_what_is_counted(self) -> None:
        whole = counted(point("lab01_naive", "per_row", 1.0), 128)
        bare = point("lab02_smem", "tree", 1.0)

        def says(points: list[dict]) -> tuple[str, set[str]]:
            chart = roofline.draw(synthetic(points))
            return chart.roofline.get_xlabel(), {text.get_text() for text in chart.labels}

        title, texts = says([whole])
        self.assertIn("dot: sector bytes, 32 per sector of each request", title)
        self.assertNotIn("nominal", title)
        title, texts = says([whole, bare])
        self.assertIn("*: nominal, not counted", title)
        self.assertLessEqual({"tree*", "per_row", "tree"}, texts)
        self.assertNotIn("per_row*", texts)
        title, texts = says([bare])
        self.assertIn("nominal intensity", title)
        self.assertIn("no bytes were counted", title)
        self.assertNotIn("tree*", texts)

    def test_without_counts_intensity_is_the_nominal_one(self) -> None:
        self.assertEqual(roofline.intensity(point("lab01_naive", "per_row", 1.0)), 5 / 8)
        self.assertEqual(roofline.intensity(point("lab04_f16x8", "f16", 1.0, "f16")), 5 / 4)
        self.assertEqual(roofline.intensity(point("lab05_topk", "online", 1.0, k=8)), 5 * 4096 / (4 * 4096 + 64))

    def test_unmeasured_points_and_other_shapes_are_not_drawn(self) -> None:
        points = [point("lab01_naive", "per_row", 1.0), point("lab01_naive", "per_row", 1.0, cols=600, kind="bigrams"),
                  dict(point("lab02_smem", "tree", 1.0), seconds=None)]
        with results_file(synthetic(points)) as path:
            table = roofline.results.load(path, need_roofs=True)
        self.assertEqual([each["variant"] for each in roofline.draw(table).ladder], ["per_row"])
        self.assertEqual(len(roofline.draw(table, 600, "bigrams").markers), 1)

    def test_arrows_join_the_rungs_in_order(self) -> None:
        shuffled = dense_points()
        shuffled = shuffled[11:] + shuffled[:11]  # the file may hold lab05 first
        chart = roofline.draw(synthetic(shuffled))
        names = [(a["variant"], b["variant"], b["dtype"]) for a, b, _ in chart.arrows]
        softmax = ["per_element", "per_row", "serial", "tree", "tree_f32x4", "warp_shuffle", "online", "online_f32x4",
                   "f16", "f16x2", "f16x8"]
        expected = [(a, b, "f16" if b.startswith("f16") else "f32") for a, b in zip(softmax, softmax[1:])]
        expected += [("three_pass", "online", dtype) for dtype in ("f32", "f16", "bf16")]
        self.assertEqual(names, expected)
        self.assertEqual([(a["variant"], b["variant"], b["dtype"]) for a, b, _ in chart.step_arrows], expected)
        for before, after, arrow in chart.arrows:
            self.assertEqual(arrow.xyann, (roofline.intensity(before), roofline.gflops(before)))
            self.assertEqual(arrow.xy, (roofline.intensity(after), roofline.gflops(after)))

    def test_of_many_points_each_labs_fastest_has_a_name_and_says_what_the_lab_bought(self) -> None:
        rungs = [point("lab02_smem", f"v{n}", 1.0 + n / 10) for n in range(11)] + [point("lab03_online", f"w{n}", 4.0 - n / 10) for n in range(10)]
        few, many = (roofline.draw(synthetic(each)) for each in (rungs[:20], rungs))
        names = [[label.get_text() for label in chart.labels if label.axes is chart.roofline and label.get_text()[-2:] != "/s"] for chart in (few, many)]
        self.assertTrue({each["variant"] for each in rungs[:20]} <= set(names[0]), names[0])
        self.assertEqual(sorted(name for name in names[1] if " v" in name or " w" in name), ["02 v10", "03 w0 2.00x"], names[1])
        title = many.roofline.get_legend().get_title().get_text()
        self.assertIn("each lab's fastest", title)
        self.assertEqual(few.roofline.get_legend().get_title().get_text(), "")

    def test_students_points_are_hollow_stars_and_say_yours(self) -> None:
        chart = roofline.draw(synthetic([point("lab02_smem", "tree", 1.0),
                                         point("lab02_smem", "tree", 0.5, source="student")]))
        mine, theirs = (chart.markers[i] for i, each in sorted(enumerate(chart.ladder),
                                                               key=lambda pair: pair[1]["source"] != "student"))
        self.assertEqual(len(mine.get_facecolors()), 0)
        self.assertEqual(len(theirs.get_facecolors()), 1)
        self.assertEqual(len({tuple(corner) for corner in mine.get_paths()[0].vertices.round(6)}), 10)  # a star's
        texts = [label.get_text() for label in chart.labels]
        self.assertEqual(texts.count("\N{BLACK STAR} tree"), 2)
        self.assertEqual(texts.count("tree"), 2)
        self.assertIn("yours", [text.get_text() for text in chart.roofline.get_legend().get_texts()])

    def test_predictions_are_hollow_with_their_band_beside_filled_measurements(self) -> None:
        def predicted(each: dict) -> dict:
            return {**each, "predicted": {"low": each["seconds"] / 2, "high": each["seconds"] * 2, "limit": "dram", "words": ""}}

        points = [point("lab01_naive", "per_row", 1.0), point("lab02_smem", "tree", 4.0)]
        mine = point("lab02_smem", "tree", 2.0, source="student")
        table = {**synthetic([predicted(each) for each in [*points, mine]]), "backend": "predicted"}
        measured = synthetic([*points, point("lab02_smem", "tree", 3.0, cols=600), point("lab03_online", "online", 3.0)])
        chart = roofline.draw(table, beside=measured)
        self.assertEqual([len(marker.get_facecolors()) for marker in chart.markers], [0, 0, 0])
        self.assertEqual(len(chart.bands), 3)
        for band, each in zip(chart.bands, chart.ladder):
            ends = sorted(y for _, y in band.get_xydata())
            self.assertEqual(ends, [roofline.gflops(each) / 2, roofline.gflops(each) * 2])
        self.assertEqual([each["variant"] for each in chart.beside], ["per_row", "tree"], "of the same rungs and shape alone")
        texts = "\n".join(label.get_text() for label in chart.labels)
        self.assertIn("Predicted for an Synthetic machine", texts)
        self.assertIn("filled: the solution, measured on that GPU", texts)
        other_way = roofline.draw(measured, beside=table)
        self.assertEqual((len(other_way.beside), len(other_way.bands)), (2, 2))
        self.assertEqual(roofline.draw(measured).bands, [])

    def test_an_operator_is_called_by_its_name(self) -> None:
        def words(chart: roofline.Chart) -> str:
            return "\n".join(text.get_text() for text in visible_texts(chart) if "exp roof" not in text.get_text())

        alone = roofline.draw(synthetic([counted(each, 8) for each in points_of_lab08()[:3]]))
        self.assertNotIn("softmax", words(alone).lower())
        self.assertIn("RMSNorm, 4096 columns", words(alone))
        self.assertEqual([text.get_text() for text in alone.roofline.get_legend().get_texts()], ["RMSNorm"])
        self.assertEqual(alone.roofline.get_ylabel(), "GFLOP/s (4 FLOP per element)")
        self.assertIn(": 4 FLOP per element over counted bytes", alone.roofline.get_xlabel())
        self.assertIn("RMSNorm 4, cross-entropy 7, LayerNorm 8 FLOP per element", words(roofline.draw(synthetic(points_of_lab08()))))

    def test_beside_softmax_other_operators_stand_on_the_right_alone(self) -> None:
        chart = roofline.draw(synthetic(dense_points()[:11] + points_of_lab08()))
        self.assertEqual((len(chart.markers), len(chart.step_markers)), (11, 20))
        self.assertEqual({each["op"] for each in chart.under_roofs}, {"softmax"})
        self.assertEqual(chart.roofline.get_ylabel(), "GFLOP/s (5 FLOP per element)")
        self.assertEqual([text.get_text() for text in chart.roofline.get_legend().get_texts()],
                         ["softmax", "RMSNorm (on the right)", "cross-entropy (on the right)", "LayerNorm (on the right)"])
        mine = roofline.draw(synthetic(dense_points()[:11] + points_of_lab08() + points_of_lab08("student")[:1]))
        self.assertEqual({each["op"] for each in mine.under_roofs}, {"softmax", "rms_norm"})
        self.assertEqual(mine.roofline.get_ylabel(), "GFLOP/s (softmax 5, RMSNorm 4 FLOP per element)")

    def test_labs_and_operators_can_be_told_apart(self) -> None:
        colours = {lab.number[:2]: marks.colour_of({"lab": lab.name}) for lab in labs.load()}
        self.assertEqual(len(set(colours.values())), len(colours))
        shapes = [marks.marker_of(op)[0] for op in [*TITLES, "unknown"]]
        self.assertEqual(len(set(shapes)), len(shapes))

    def test_a_prediction_without_its_band_is_refused(self) -> None:
        for bad in ({"low": 1.0}, {"low": 2.0, "high": 3.0}, {}):
            with results_file(synthetic([{**point("lab02_smem", "tree", 1.0), "seconds": 1.0, "predicted": bad}])) as path, self.subTest(bad):
                with self.assertRaisesRegex(roofline.UserError, "no band low <= seconds <= high"):
                    roofline.results.load(path)

    def test_roofs_and_titles(self) -> None:
        chart = roofline.draw(synthetic())
        texts = "\n".join(label.get_text() for label in chart.labels)
        for wanted in ("Synthetic machine, 0 cores (cpu), 2000-01-01", "copy 10.0 GB/s", "read 12.0 GB/s",
                       "FP32 FMA peak: 100 GFLOP/s", "exp roof: 5 x 1.00 Gexp/s", "4096 columns"):
            self.assertIn(wanted, texts)
        lines = [line.get_xydata() for line in chart.roofline.get_lines()]
        flat = {ends[0][1] for ends in lines if len(ends) == 2 and ends[0][1] == ends[1][1]}
        self.assertLessEqual({100.0, 5.0}, flat)
        for bandwidth in (10.0, 12.0):
            self.assertTrue(any(all(abs(y / x - bandwidth) < 1e-6 for x, y in ends) for ends in lines), bandwidth)


@contextlib.contextmanager
def results_file(content: object):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "synthetic.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        yield path


def run(*arguments: object) -> tuple[int, str, str]:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = roofline.main([str(argument) for argument in arguments])
    return code, out.getvalue(), err.getvalue()


class Command(unittest.TestCase):
    def check_error(self, content: object, *wanted: str) -> None:
        with results_file(content) as path:
            code, out, err = run(path, "--output", path.parent / "chart")
            self.assertFalse((path.parent / "chart.svg").exists())
        self.assertEqual((code, out), (1, ""))
        self.assertEqual(err.count("\n"), 1, err)
        for text in wanted:
            self.assertIn(text, err)

    def test_files_are_written_and_the_same_each_time(self) -> None:
        with results_file(synthetic()) as path:
            code, out, err = run(path, "--output", path.parent / "deep" / "a")
            self.assertEqual((code, err), (0, ""))
            run(path, "--output", path.parent / "b")
            svg = (path.parent / "deep" / "a.svg").read_bytes()
            self.assertEqual(svg, (path.parent / "b.svg").read_bytes())
            png = (path.parent / "deep" / "a.png").read_bytes()
            self.assertEqual(png, (path.parent / "b.png").read_bytes())
        self.assertIn("a.svg", out)
        self.assertTrue(xml.etree.ElementTree.fromstring(svg).tag.endswith("svg"))
        self.assertNotIn(b"<dc:date>", svg)
        self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")
        self.assertGreaterEqual(int.from_bytes(png[16:20], "big"), 1200)

    def test_missing_file(self) -> None:
        code, _, err = run("/nonexistent/results.json")
        self.assertEqual(code, 1)
        self.assertIn("no such file", err)

    def test_bad_content(self) -> None:
        self.check_error("{", "not valid JSON")
        self.check_error([], "expected a JSON object")
        self.check_error({"points": []}, "missing machine, backend, date")
        self.check_error(synthetic([]), "no points")
        self.check_error(synthetic([dict(dense_points()[0], seconds=None)]), "none of its points is measured")
        self.check_error(synthetic([dict(dense_points()[0], seconds=-1)]), "point 1", "seconds is -1")
        self.check_error(synthetic([dict(dense_points()[0], seconds="fast")]), "seconds is 'fast'")
        self.check_error(synthetic([dict(dense_points()[0], dtype="f8")]), "dtype is 'f8'")
        self.check_error(synthetic([3]), "point 1: expected a JSON object")
        self.check_error(synthetic([dict(dense_points()[0], l1_bytes=5)]), "missing footprint_bytes, counted_rows")
        self.check_error(synthetic([dict(counted_points()[0], l1_bytes=0)]), "l1_bytes is 0")

    def test_missing_fields_are_named(self) -> None:
        whole = dense_points()[0]
        short = {name: value for name, value in whole.items() if name not in ("cols", "nominal_bytes")}
        self.check_error(synthetic([whole, short]), "point 2: missing cols, nominal_bytes")

    def test_roofs(self) -> None:
        self.check_error({**synthetic(), "roofs": {}}, "no roofs")
        self.check_error({name: value for name, value in synthetic().items() if name != "roofs"}, "no roofs")
        self.check_error({**synthetic(), "roofs": {"copy_gbs": 1.0, "read_gbs": 1.0}}, "missing fma_gflops, exp_gops")
        self.check_error({**synthetic(), "roofs": {**ROOFS, "exp_gops": 0}}, "roof exp_gops is 0")

    def test_a_shape_that_is_not_there(self) -> None:
        with results_file(synthetic()) as path:
            code, _, err = run(path, "--cols", "77", "--output", path.parent / "chart")
        self.assertEqual(code, 1)
        self.assertIn("--input normal --cols 4096", err)

    def test_unwritable_output(self) -> None:
        with results_file(synthetic()) as path:
            code, _, err = run(path, "--output", path / "chart")  # a file where a folder is needed
        self.assertEqual(code, 1)
        self.assertIn("cannot be written", err)

    def test_matplotlib_missing(self) -> None:
        with results_file(synthetic()) as path, mock.patch.object(roofline, "matplotlib", None):
            code, _, err = run(path, "--output", path.parent / "chart")
        self.assertEqual(code, 1)
        self.assertIn("apt-get install python3-matplotlib", err)


class OtherFiles(unittest.TestCase):
    def test_only_the_file_that_is_asked_for_stands_beside_the_solutions(self):
        points = [point("lab02_smem", "tree", 1.0), point("lab02_smem", "tree", 0.5, source="student"),
                  point("lab02_smem", "tree", 0.7, source="mine/a.cu"), point("lab02_smem", "tree", 0.8, source="b.cu")]
        self.assertEqual([p["source"] for p in roofline.select(points, 4096, "normal")], ["solution", "student"])
        chosen = roofline.select(points, 4096, "normal", "mine/a.cu")
        self.assertEqual([p["source"] for p in chosen], ["solution", "mine/a.cu"])
        self.assertEqual(roofline.name_of(chosen[1], chosen), "\N{BLACK STAR} tree")


if __name__ == "__main__":
    unittest.main()
