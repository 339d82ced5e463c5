"""From the record of a lab's test run (common/testing/record.h) to graded items.

What must have been run is known beforehand: it is what the course's own solution has run, not what a submission says of itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from points import Points, divide_lab

NOT_PREDICTED = "its time cannot be predicted"
TIME = "time"  # the group of cases that predict a time
BUDGET = "move-budget"  # the one of these that stands for the speed; the others are moves
SHARED_WORK = ("move-no-serial", "move-even-shares", "move-rows-at-once")  # without these a variant's other moves count for nothing
# Nor do they where a pace is missed by more than this factor, though no move says that its accesses are bad: lanes or warps then work
# one after the other. An honest kernel that the model takes for a little slower than it is loses the pace alone.
FAR_BEHIND = 1.25
OF_ACCESSES = ("move-coalesced", "move-read", "move-written", "move-float4", "move-uint4", "move-few-passes")
PASS, FAIL, NOT_RUN, PERSON = "pass", "fail", "not run", "needs a person"
GROUP_NAMES = {
    "widths": "rows of many widths", "rows": "many and few rows", "values": "large, small, equal and sorted values", "masks": "masked entries",
    "nan": "NaN and infinity", "k": "values of k", "contract": "arguments that must be refused", "hidden": "hidden shapes",
    "sizes": "many sizes", "cores": "many and few cores", "events": "events and steps",
}
# Of hidden cases: what such a shape has that others lack, without the shape.
HIDDEN_HINTS = {
    "tiny": "rows of a few columns", "two-warps": "rows of odd width between one and two warps", "below-1024": "rows a little narrower than 1024",
    "above-1024": "rows a little wider than 1024", "many-rows": "many narrow rows", "wide": "rows of more than 4096 columns",
    "wide-odd": "wide rows of odd width with large ends",
    "wide-mixed": "wide rows that are masked, or have a NaN, infinity or large numbers", "large-k": "k in the hundreds", "rising": "rows in rising order", "one-huge": "one huge value in a row",
    "far-below": "logits near -1e4", "masked": "masked entries", "masked-head": "rows that begin with masked entries",
    "masked-rows": "rows that are masked altogether", "nan": "a NaN",
    "few-cores": "a few cores", "two-tiles": "cores for more than one tile", "odd-sizes": "a d_ff that 128 does not divide",
    "many-events": "many events",
}


@dataclass
class Item:
    id: str
    category: str
    name: str
    out_of: float
    variant: str = ""
    verdict: str = FAIL
    points: float = 0.0
    reason: str = ""
    hint: str = ""
    details: str = ""
    waiting: float = 0.0  # points that are given once a person has looked

    def passes(self) -> None:
        self.verdict, self.points = PASS, self.out_of

    def fails(self, reason: str, hint: str = "", details: str = "") -> None:
        self.verdict, self.points, self.waiting, self.reason, self.hint, self.details = FAIL, 0.0, 0.0, reason, hint, details

    def waits(self, why: str) -> None:
        """Points that it has are held back until a person has looked."""
        self.reason = f"{self.points:.2f} of {self.out_of:.2f} points wait for a person: {why}"
        self.waiting += self.points
        self.verdict, self.points = PERSON, 0.0

    def json(self) -> dict:
        entry = {"id": self.id, "category": self.category, "name": self.name, "verdict": self.verdict, "points": self.points,
                 "out_of": self.out_of, "reason": self.reason, "hint": self.hint, "details": self.details}
        return {**entry, "waits": self.waiting} if self.waiting else entry


@dataclass
class Plan:
    """What a lab's tests run, (variant, group, case), from the solution's record; and the variants that are looked at closely. Their
    hidden cases and their cases under the checks follow from the secret, and are in each record's own plan."""

    cases: list[tuple[str, str, str]] = field(default_factory=list)
    variants: list[str] = field(default_factory=list)

    @property
    def times(self) -> list[tuple[str, str]]:
        """Variants whose time is predicted, with the case that does it. A lab that has some is not timed on a GPU."""
        return [(variant, case) for variant, group, case in self.cases if group == TIME and case == BUDGET]

    @staticmethod
    def of(record: list[dict]) -> Plan:
        cases = [(e["variant"], e["group"], e["case"]) for e in record if e["type"] in ("plan", "case")]
        return Plan(list(dict.fromkeys(cases)), list(dict.fromkeys(variant for variant, group, _ in cases if group == "hidden")))


def is_prediction(group: str, case: str) -> bool:
    return group.startswith("predict") or case.startswith("predict")


def category_of(group: str, case: str) -> str:
    if is_prediction(group, case):
        return "predictions"
    if group == TIME:
        return "speed" if case == BUDGET else "moves"
    return {"move": "moves", "integrity": "integrity"}.get(group, "correctness")


def blank(points: Points, lab: str, plan: Plan) -> list[Item]:
    """The items of a lab with what they are worth; all failed."""
    keys: dict[tuple[str, str, str], tuple[str, float]] = {}  # (category, variant, group or case) -> name, weight
    for variant, group, case in plan.cases:
        category = category_of(group, case)
        if category == "correctness":
            keys[category, variant, group] = (f"{variant}: {GROUP_NAMES.get(group, group)}", points.weight(group))
        elif category in ("moves", "predictions"):
            keys[category, variant, case] = (f"{variant}: {case.split('-', 1)[-1].replace('-', ' ')}", 1)
    for variant in plan.variants:
        keys["checks", variant, ""] = (f"{variant}: memcheck, racecheck, initcheck, synccheck", 1)
    for variant, case in plan.times:
        keys["speed", variant, case] = (f"{variant}: predicted time beside our solution's", 1)
    for variant in plan.variants if not plan.times else ():
        keys["speed", variant, ""] = (f"{variant}: speed beside our solution", 1)
    for key, (name, _) in keys.items():
        if points.is_given(lab, key[1], key[2]):
            keys[key] = (name, 0)
    order = ("correctness", "checks", "moves", "predictions", "speed")
    keys = dict(sorted(keys.items(), key=lambda entry: order.index(entry[0][0])))
    shares = divide_lab(points, lab, [(category, weight) for (category, _, _), (_, weight) in keys.items()])
    items = [Item("integrity/source", "integrity", "the file: there, compiles, uses what a kernel may", 0.0)]
    items += [Item(f"integrity/{variant}", "integrity", f"{variant}: its kernels do the work", 0.0, variant) for variant in plan.variants]
    for ((category, variant, part), (name, _)), share in zip(keys.items(), shares):
        items.append(Item("/".join(text for text in (category, variant, part) if text), category, name, share, variant))
    for item in items:
        if item.category == "speed" and not (plan.times and item.out_of):
            item.verdict, item.reason = NOT_RUN, "no GPU was used; speed is measured on one"
    return items


# ---- One lab's record ----------------------------------------------------------------------------

class Results:
    """What happened, by case. The first entry about a case counts."""

    def __init__(self, record: list[dict]):
        self.cases, self.checks, self.times, self.missing = {}, {}, {}, set()
        self.over: dict[tuple[str, str], float] = {}  # (variant, move that predicts a time) -> so many times as long as it allows
        self.plan: dict[tuple[str, str, str], bool] = {}  # case -> whether the checks are to look at it
        for entry in record:
            if entry["type"] == "case":
                self.cases.setdefault((entry["variant"], entry["group"], entry["case"]), entry)
            elif entry["type"] == "check":
                self.checks.setdefault((entry["variant"], entry["case"]), entry)
            elif entry["type"] == TIME:
                self.times.setdefault((entry["variant"], entry["case"]), entry)
            elif entry["type"] == "over":
                self.over[entry["variant"], entry["case"]] = entry["times"]
            elif entry["type"] == "plan":
                self.plan[entry["variant"], entry["group"], entry["case"]] = entry["checked"]
            elif entry["type"] == "missing":
                self.missing.add(entry["variant"])
        self.finished = bool(record) and record[-1]["type"] == "end"
        self.problem = next((entry["text"] for entry in record if entry["type"] == "problem"), "")

    def due(self, plan: Plan, variant: str, group: str) -> list[tuple[str, str, str]]:
        """The cases of a group that must have been run."""
        mine = [key for key in self.plan if key[0] == variant and key[1] == group]
        return mine if group == "hidden" and mine else [key for key in plan.cases if key[0] == variant and key[1] == group]

    def ok(self, key: tuple[str, str, str]) -> bool:
        return key in self.cases and self.cases[key]["ok"] is True

    def wrong(self, variant: str, case: str) -> bool:
        """Whether a move was counted and not made."""
        return self.cases.get((variant, "move", case), {"ok": True})["ok"] is not True

    def not_shared(self, variant: str) -> str:
        """The move that says that not all threads of a variant work at one time, or ""."""
        missed = [case for of, group, case in self.cases if of == variant and group == "move" and self.wrong(variant, case)]
        behind = [case for (of, case), times in self.over.items() if of == variant and case != BUDGET and times > FAR_BEHIND]
        explained = any(case.startswith(OF_ACCESSES) for case in missed)
        return next((case for case in SHARED_WORK if case in missed), behind[0] if behind and not explained else "")


def to_be_timed(record: list[dict]) -> tuple[set[str], list[str], list[dict], list[dict]]:
    """Of a record with the kernels that were launched where a time is to be predicted: these, the names of such cases, and the record without
    what it says of them and without its end, which is apart."""
    kernels = {symbol for entry in record if entry["type"] == "launched" for symbol in entry["symbols"]}
    cases = sorted({entry["case"] for entry in record if entry["type"] == "plan" and entry["group"] == TIME})
    end = record[-1:] if Results(record).finished else []
    return kernels, cases, [entry for entry in record if entry["type"] == "plan" or entry.get("group") != TIME and entry["type"] != "end"], end


def times_of(record: list[dict]) -> list[dict]:
    return [entry for entry in record if entry["type"] in ("case", TIME, "over") and entry["group"] == TIME]


def first_line(text: str) -> str:
    return text.strip().split("\n")[0] if text.strip() else ""


def hint_for(lab: str, group: str, case: str) -> str:
    if group == "hidden":
        about = HIDDEN_HINTS.get(case.split("-", 1)[-1], "")
        return f"try {about} of your own" if about else ""
    return f"make {lab.split('_')[0]} CASE={case}"


def grade_cases(item: Item, lab: str, group: str, cases: list[tuple[str, str, str]], results: Results, why_not_run: str) -> None:
    wrong = [key for key in cases if key in results.cases and not results.ok(key)]
    not_run = [key for key in cases if key not in results.cases]
    if not wrong and not not_run:
        return item.passes()
    if not wrong:
        return item.fails(f"{len(not_run)} of {len(cases)} cases were not run: {why_not_run}", hint_for(lab, group, not_run[0][2]))
    first = results.cases[wrong[0]]
    details = []
    for key in wrong[:3]:
        text = results.cases[key]["text"].strip()
        details.append(f"{key[2]}\n" + "\n".join(f"  {line}" for line in text.split("\n")[:12]))
    if len(wrong) > 3:
        details.append("and " + ", ".join(key[2] for key in wrong[3:12]) + (" ..." if len(wrong) > 12 else ""))
    if not_run:
        details.append(f"not run: {len(not_run)} of {len(cases)} cases ({why_not_run})")
    item.fails(f"{len(wrong)} of {len(cases)} cases wrong, first {wrong[0][2]}: {first_line(first['text'])}",
               hint_for(lab, group, wrong[0][2]), "\n".join(details))


def grade_checks(item: Item, lab: str, results: Results, why_not_run: str) -> None:
    planned = [(variant, case) for (variant, _, case), checked in results.plan.items() if checked and variant == item.variant]
    plain_ok = {(variant, case) for (variant, _, case), entry in results.cases.items() if entry["ok"] is True}
    for word in ("found", "wrong"):
        for key in planned:
            entry = results.checks.get(key)
            if not entry or entry["verdict"] != word or (word == "wrong" and key not in plain_ok):
                continue
            text = entry["text"].strip()
            if word == "wrong":
                text = "right, but wrong when it runs under the checks: does it read what it has not written?\n" + text
            return item.fails(first_line(text), hint_for(lab, entry["group"], key[1]), f"{key[1]}\n{text}")
    if not planned:
        return item.fails("it could not be run under the checks")
    missing = [key for key in planned if results.checks.get(key, {}).get("verdict") != "clean"]
    if missing:
        return item.fails(f"{len(missing)} of {len(planned)} small cases did not get through the checks: {why_not_run}",
                          hint_for(lab, "", missing[0][1]))
    item.passes()


def grade_time(item: Item, lab: str, points: Points, results: Results, why_not_run: str) -> None:
    """By the predicted time beside that of our solution: same shape, same model. What keeps the handout's budget has all points."""
    case = item.id.rsplit("/", 1)[1]
    hint = hint_for(lab, "", case)
    ran = results.cases.get((item.variant, TIME, case))
    told = results.times.get((item.variant, case))
    if not ran:
        return item.fails(f"no time was predicted: {why_not_run}", hint)
    if not told:  # it was not right on this shape, or could not be counted
        return item.fails(first_line(ran["text"]), hint, ran["text"].strip())
    ours, seconds, shape = told["solution"], told["seconds"], f"{told['rows']} x {told['cols']}"
    if ours is None:
        item.verdict, item.reason = NOT_RUN, "the time of our solution could not be predicted on this machine"
        return None
    beside = f"our solution {ours * 1e6:.3g} us"
    if seconds is not None:
        reason = f"predicted for an H200, not measured: {seconds * 1e6:.3g} us for {shape}, {beside}"
    elif told["at_least"] is not None:
        reason = f"predicted for an H200, not measured: at least {told['at_least'] * 1e6:.3g} us for {shape}, {beside}"
    else:
        reason = f"{NOT_PREDICTED}, {beside}"
    least = told["at_least"] if seconds is None else seconds
    if ran["ok"] is True:
        item.passes()
        item.reason, item.details = reason, told["words"].strip()
        return None
    speed = points.speed
    item.fails(f"{reason}; all points within the handout's budget, none below {speed['none']:g} of our solution's speed", hint, ran["text"].strip())
    if least:
        share = (ours / least - speed["none"]) / (speed["full"] - speed["none"])
        item.points = round(item.out_of * min(1.0, max(0.0, share)), 2)
    return None


def share_right(items: list[Item], variant: str) -> float:
    """How much of a variant's cases is right, by weight, its contract left out; 1 if it has none."""
    mine = [item for item in items if item.category == "correctness" and item.variant == variant and not item.id.endswith("/contract")]
    total = sum(item.out_of for item in mine)
    return sum(item.points for item in mine) / total if total else 1.0


def grade(lab: str, points: Points, plan: Plan, record: list[dict], ended_by: str = "") -> list[Item]:
    """The items of a lab whose tests have run. ended_by: the limit that stopped them, in words."""
    items = blank(points, lab, plan)
    results = Results(record)
    stopped = ended_by or ("the first cases were wrong" if results.finished else "the run ended early")
    for item in items:
        if item.category == "correctness":
            group = item.id.rsplit("/", 1)[1]
            grade_cases(item, lab, group, results.due(plan, item.variant, group), results, stopped)
        elif item.category in ("moves", "predictions"):
            case = item.id.rsplit("/", 1)[1]
            cases = [key for key in plan.cases if key[0] == item.variant and key[2] == case]
            grade_cases(item, lab, "", cases, results, stopped)
            if item.category == "predictions" and results.finished and not ended_by and not any(key in results.cases for key in cases):
                name = case.removeprefix("predict-").replace("-", "_")
                item.fails(f'there is no prediction "{name}": is it in the RUNG_PREDICT line?')
        elif item.category == "checks":
            grade_checks(item, lab, results, stopped)
        elif item.category == "speed" and item.verdict != NOT_RUN:
            grade_time(item, lab, points, results, stopped)
        if item.category == "integrity" or item.verdict == NOT_RUN:
            continue
        if item.variant in results.missing:
            item.fails(f"there is no variant \"{item.variant}\": is it in the RUNG_EXPORT line?")
        elif results.problem and item.verdict == FAIL:
            item.fails(first_line(results.problem), "", results.problem)

    rights = {item.variant: share_right(items, item.variant) for item in items}
    for item in items:
        need = points.need.get("contract" if item.id.endswith("/contract") else item.category)
        if need is not None and (item.verdict == PASS or item.points) and rights[item.variant] < need:
            item.fails(f"counts once {need:.0%} of {item.variant}'s cases are right; {rights[item.variant]:.0%} are")
    for item in items:
        missed = results.not_shared(item.variant)
        if missed and item.category == "moves" and item.verdict == PASS:
            item.fails(f"counts once all threads of {item.variant} share its work ({missed})", hint_for(lab, "", missed))
    for item in items:
        if item.category == "integrity" and item.variant:
            grade_integrity(item, items, plan, results, rights[item.variant])
    return items


NO_LAUNCH, NOT_RIGHT = "no kernel was launched", "not right in the instrumented build"
BY_THE_HOST = "host code touches device memory"


def grade_integrity(item: Item, items: list[Item], plan: Plan, results: Results, right: float) -> None:
    """Whether a variant's kernels did the work. If not, its points are lost or wait."""
    entry = next((results.cases[key] for key in plan.cases
                  if key[0] == item.variant and key[1] == "integrity" and key in results.cases), None)
    if entry and entry["ok"] is True:
        return item.passes()
    earned = [other for other in items if other.variant == item.variant and other.points > 0]
    checks_know = any(other.category == "checks" and other.variant == item.variant and other.verdict == FAIL for other in items)
    text = entry["text"].strip() if entry else "not looked at, since it is not right"
    item.fails(first_line(text), "", text)
    if BY_THE_HOST in text:
        for other in earned:
            other.fails("host code reads or writes device memory, which crashes on a GPU: kernels have to do the work")
        return
    if not earned or (checks_know and text.startswith(NOT_RIGHT)):
        return  # a finding of the checks says it better
    if text.startswith(NO_LAUNCH):
        for other in earned:
            other.fails("the result is right, but no kernel was launched: it was not computed on the device")
        return
    item.verdict = PERSON
    for other in earned:
        other.waits(first_line(text))


def not_timed(items: list[Item], plan: Plan, why: str) -> None:
    """No time is predicted of the file, for a reason that may lie in it: the moves that a missed pace would take with it wait for a person."""
    paced = {variant for variant, group, case in plan.cases if group == TIME and category_of(group, case) == "moves"}
    for item in items:
        if item.category == "moves" and item.variant in paced and item.points > 0:
            item.waits(f"{NOT_PREDICTED}: {why}")


def hold_back(items: list[Item], why: str, details: str = "") -> None:
    """A rule about the file asks for a person: all points of the lab wait, if there are any."""
    source = next(item for item in items if item.id == "integrity/source")
    source.fails(why, "", details)
    earned = [item for item in items if item.points > 0]
    if earned:
        source.verdict = PERSON
    for item in earned:
        item.waits(why)


def all_fail(items: list[Item], reason: str, hint: str = "", details: str = "", speed: bool = False) -> None:
    """speed: speed is graded here, and is lost too."""
    for item in items:
        if item.id == "integrity/source":
            item.fails(reason, hint, details)
        elif speed or item.verdict != NOT_RUN:
            item.fails(reason, hint)


def lab_json(lab: str, title: str, items: list[Item]) -> dict:
    items = [item for item in items if item.out_of or item.category == "integrity" or item.verdict not in (PASS, NOT_RUN)]
    run = [item for item in items if item.verdict != NOT_RUN]
    verdicts = {item.verdict for item in run}
    verdict = PERSON if PERSON in verdicts else FAIL if FAIL in verdicts else PASS if run else NOT_RUN
    return {"lab": lab, "title": title, "verdict": verdict, "points": round(sum(item.points for item in items), 2),
            "out_of": round(sum(item.out_of for item in run), 2),
            "not_run": round(sum(item.out_of for item in items if item.verdict == NOT_RUN), 2), "items": [item.json() for item in items]}
