"""The outcomes as a table in Markdown, a line for each fault, the worst of its seeds."""

from collections.abc import Iterable, Sequence

from tests.faults.suite.plan import ACTS, ALWAYS, PLAN
from tests.faults.suite.trial import Outcome

HEAD = [
    "| fault | what is broken | seeds | asked | unknown at first | figures (bound) | laws broken |",
    "|---|---|---|---|---|---|---|",
]
NEVER = float("-inf")


def table(outcomes: Iterable[Outcome]) -> str:
    """One line for each fault, in the order of the plan."""
    by_fault: dict[str, list[Outcome]] = {}
    for each in outcomes:
        by_fault.setdefault(each.fault, []).append(each)
    ordered = sorted(by_fault, key=lambda name: int(name[1:]))
    return "\n".join([*HEAD, *(line(name, by_fault[name]) for name in ordered)])


def line(name: str, outcomes: Sequence[Outcome]) -> str:
    about = " ".join((ACTS[name].__doc__ or "").split())
    if any(each.impossible for each in outcomes):
        return f"| {name} | {about} | not run: {outcomes[0].impossible} | | | | |"
    worst: dict[str, float] = {}
    for each in outcomes:
        for figure in each.limits:
            worst[figure] = max(worst.get(figure, NEVER), each.figures.get(figure, float("inf")))
    limits = ALWAYS | PLAN[name].limits
    figures = "; ".join(
        shown(figure, value, limits[figure]) for figure, value in worst.items() if figure != "broken laws"
    )
    asked, unknown = sum(each.asked for each in outcomes), sum(each.unknown for each in outcomes)
    laws = sorted({law for each in outcomes for law in each.broken}) or ["none"]
    return f"| {name} | {about} | {len(outcomes)} | {asked} | {unknown} | {figures} | {', '.join(laws)} |"


def shown(figure: str, value: float, limit: float) -> str:
    text = f"{figure} {value:.3g} ({limit:g})"
    return f"**{text}**" if value > limit else text


def told(outcome: Outcome) -> str:
    """One run, for whoever watches it."""
    if outcome.impossible:
        return f"{outcome.fault} seed {outcome.seed}: not run, {outcome.impossible}"
    verdict = "passed" if not outcome.missed else f"MISSED {', '.join(outcome.missed)}"
    figures = ", ".join(f"{name} {value:.3g}" for name, value in sorted(outcome.figures.items()))
    lines = [
        f"{outcome.fault} seed {outcome.seed}: {verdict} in {outcome.seconds:.0f} s; {outcome.asked} asked, "
        f"{outcome.unknown} unknown at first; {figures}"
    ]
    lines += [f"    {note}" for note in outcome.notes]
    lines += [f"    {law}: {sentence}" for law, sentences in outcome.broken.items() for sentence in sentences[:5]]
    return "\n".join(lines)
