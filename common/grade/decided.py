"""A class as it is reported: what the grader found (record.py), and on top what persons decided (decisions.py) and what the rules of the class
say about late days, bonus and curve (policy.py). All reports are written from this, so that they agree."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import decisions as decisions_
import policy as policy_
import record
from decisions import Decision
from policy import Policy
from record import FAIL, NOT_RUN, PASS, PERSON, Adjustment, Class, Item, Lab, Student, number_text


def rules_of(out: Path) -> tuple[list[Decision], Policy]:
    """Raises DecisionError and PolicyError."""
    return decisions_.load(out), policy_.load(out)


def read_class(out: Path) -> Class:
    """Raises DecisionError and PolicyError; a record that cannot be used is in the result's `ungraded`."""
    decisions, policy = rules_of(out)
    group = record.read_class(out)
    names = unique_names(group)
    group.students = [decide(student, decisions, policy, names[student.id]) for student in group.students]
    known = {student.id for student in group.students} | {lost.id for lost in group.ungraded} | {name for mine in names.values() for name in mine}
    for decision in decisions:
        if decision.student not in known:
            group.problems.append(f"{decisions_.NAME}: there is no student '{decision.student}', or more than one of that name")
    for student, _ in policy.table:
        if student not in known:
            group.problems.append(f"{policy_.TABLE}: there is no student '{student}', or more than one of that name")
    group.problems = list(dict.fromkeys(group.problems))
    return group


def unique_names(group: Class) -> dict[str, tuple[str, ...]]:
    """Id -> what else can stand for the student in a table: the name, and what the platform knows, as far as nobody else is called so."""
    called = {student.id: {student.student, *(text for person in student.people for text in (person.name, person.number, person.login, person.email))} - {""}
              for student in group.students}
    counts: dict[str, int] = {}
    for names in called.values():
        for name in names:
            counts[name] = counts.get(name, 0) + 1
    return {id: tuple(sorted(name for name in names if counts[name] == 1 and name not in called)) for id, names in called.items()}


def read_student(out: Path, id: str) -> Student:
    """One alone. Raises RecordError, DecisionError, PolicyError."""
    student = record.read_student(out / "students" / id)
    names = unique_names(record.Class([student]))[id]  # whether another has the name shows when the class is read
    return decide(student, *rules_of(out), names)


# ---- One student ---------------------------------------------------------------------------------

def decide(student: Student, decisions: list[Decision], policy: Policy, names: tuple[str, ...]) -> Student:
    mine = decisions_.of_student(decisions, student.id, names)
    labs, problems = [], [student.problem] if student.problem else []
    without = decisions_.no_file(student.problem)
    for lab in student.labs:
        about = [decision for decision in mine if decision.about(lab.lab)]
        of_a_file = [decision for decision in about if decision.about_a_file]
        stale = [decision for decision in of_a_file if decision.file and not (lab.file or without).startswith(decision.file)]
        if stale and stale[-1] is of_a_file[-1] and stale[-1].lab:
            problems.append(f"{lab.lab}: what {stale[-1].who} decided was about another file; look again")
        labs.append(decide_lab(lab, [decision for decision in about if decision not in stale]))
    for decision in mine:
        if decision.lab and not any(decision.about(lab.lab) for lab in student.labs):
            problems.append(f"{decisions_.NAME}: there is no lab '{decision.lab}' in this grade")
        if decision.about_a_file and decision.file in ("", without):
            problems = [problem for problem in problems if problem != student.problem]  # somebody has looked
    days = {lab.lab: late_days(lab, mine, policy, (student.id, *names)) for lab in labs}
    labs = late(labs, days, policy)
    own = [adjustment(decision, decision.bonus) for decision in mine if decision.bonus is not None and not decision.lab]
    own = own[-1:]
    points = max(0.0, round(sum(lab.points for lab in labs) + sum(a.points for a in own), 2))
    out_of = round(sum(lab.out_of for lab in labs if not policy.is_bonus(lab.lab)), 2)
    percent = round(100 * points / out_of, 2) if out_of else None
    verdict = student.verdict
    if problems:
        verdict = PERSON
    elif student.problem or [lab.verdict for lab in labs] != [lab.verdict for lab in student.labs]:
        verdict = worst({lab.verdict for lab in labs})
    comments = tuple(f"{decision.comment} ({decision.who})" for decision in mine if decision.comment and not decision.lab)
    final = round(policy.curved(percent), 2) if policy.curve and percent is not None else None
    return replace(student, labs=tuple(labs), points=points, out_of=out_of, verdict=verdict, problem="; ".join(problems), adjustments=tuple(own),
                   comments=comments, percent=percent, final=final)


def worst(verdicts: set[str]) -> str:
    """Of parts that were run, for the whole."""
    return next((verdict for verdict in (PERSON, FAIL, PASS) if verdict in verdicts), NOT_RUN)


def adjustment(decision: Decision, points: float) -> Adjustment:
    what = "bonus" if points >= 0 else "taken off"
    return Adjustment(round(points, 2), f"{what}, by {decision.who}" + (f": {decision.comment}" if decision.comment else ""))


def decide_lab(lab: Lab, about: list[Decision]) -> Lab:
    """Release and deny, points, bonus and comments."""
    items = list(lab.items)
    for decision in about:
        if decision.release or decision.deny:
            items = [decide_item(item, was, decision) for item, was in zip(items, lab.items)]
    verdict = lab.verdict if items == list(lab.items) else worst({item.verdict for item in items if item.verdict != NOT_RUN})
    points = round(sum(item.points for item in items), 2)
    adjustments = []
    if bonus := [decision for decision in about if decision.bonus is not None and decision.lab]:
        adjustments.append(adjustment(bonus[-1], bonus[-1].bonus))
    fixed = False
    if decided := [decision for decision in about if decision.points is not None]:
        last, fixed = decided[-1], True
        text = f"set to {number_text(last.points)} points by {last.who}" + (f": {last.comment}" if last.comment else "")
        adjustments = [Adjustment(round(last.points - points, 2), text), *adjustments]
        verdict = verdict if verdict != PERSON else FAIL if last.points < lab.out_of else PASS
    points = max(0.0, round(points + sum(a.points for a in adjustments), 2))
    used = [*decided[-1:], *bonus[-1:]]
    comments = tuple(f"{d.comment} ({d.who})" for d in about if d.comment and d.lab and d not in used and not (d.release or d.deny))
    return replace(lab, items=tuple(items), verdict=verdict, points=points, adjustments=tuple(adjustments), comments=comments, fixed=fixed)


def decide_item(item: Item, was: Item, decision: Decision) -> Item:
    """was: the item as the grader left it, on which the last decision counts."""
    if was.verdict != PERSON or (decision.item and decision.item not in (was.id, was.name)):
        return item
    why = (f": {decision.comment}" if decision.comment else "") + (f" ({was.reason})" if was.reason else "")
    if decision.deny:
        return replace(was, verdict=FAIL, points=0.0, waits=0.0, reason=f"not given, by {decision.who}{why}")
    verdict = PASS if was.waits >= was.out_of else FAIL
    return replace(was, verdict=verdict, points=was.waits, waits=0.0, reason=f"released by {decision.who}{why}")


# ---- Late days -----------------------------------------------------------------------------------

def late_days(lab: Lab, mine: list[Decision], policy: Policy, names: tuple[str, ...]) -> int:
    """What a person says; else by the table, by the platform's time, by the file's own if that is believed."""
    said = [decision.late_days for decision in mine if decision.about(lab.lab) and decision.late_days is not None]
    if said:
        return said[-1]
    deadline = policy.deadline(lab.lab)
    if deadline is None or not lab.file:
        return 0
    number = lab.lab.split("_")[0]
    when = next((policy.table[name, key] for key in (lab.lab, number, "") for name in names if (name, key) in policy.table), None)
    stamp = lab.handed_in or (lab.file_time if policy.file_times else "")
    if when is None and stamp:
        try:
            when = datetime.fromisoformat(stamp)
        except ValueError:
            when = None
    return policy.days_late(when.astimezone(), deadline) if when else 0


def late(labs: list[Lab], days: dict[str, int], policy: Policy) -> list[Lab]:
    """Free days go to the labs in the order of their deadlines."""
    free, results = policy.free_days, {}
    for lab in sorted(labs, key=lambda lab: (policy.deadline(lab.lab) or datetime.max.astimezone(), lab.lab) if policy.deadline(lab.lab) else (
            datetime(9999, 1, 1).astimezone(), lab.lab)):
        late_ = days[lab.lab]
        if not late_ or lab.fixed:
            results[lab.lab] = replace(lab, late_days=late_)
            continue
        given = min(free, late_)
        free -= given
        charged = late_ - given
        words = f"{late_} day{'s' if late_ > 1 else ''} late" + (f", {given} of them free" if given else "")
        if policy.most_days and late_ > policy.most_days:
            less, words = lab.points, f"{words}: more than {policy.most_days} days, no points"
        else:
            whole = lab.points if policy.of == "earned" else lab.out_of
            less = min(lab.points, round(whole * min(100.0, policy.per_day * charged) / 100, 2))
            words += f": {number_text(policy.per_day)} % of {number_text(whole)} points for each of {charged}" if charged and policy.per_day else ""
        adjustments = (*lab.adjustments, Adjustment(-round(less, 2), words))
        results[lab.lab] = replace(lab, late_days=late_, adjustments=adjustments, points=round(lab.points - less, 2))
    return [results[lab.lab] for lab in labs]
