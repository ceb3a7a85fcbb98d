"""The results as a Markdown table: one line per fault, with the worst of its seeds."""

from collections.abc import Iterable, Sequence

from tests.faults.suite.fault_run import Outcome
from tests.faults.suite.plan import ACTS, ALWAYS, PLAN

HEAD = [
    "| fault | what is broken | seeds | asked | unknown at first | figures (bound) | laws broken |",
    "|---|---|---|---|---|---|---|",
]
NEVER = float("-inf")


def table(outcomes: Iterable[Outcome]) -> str:
    """One line for each fault, in the order of the plan."""
    by_fault: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_fault.setdefault(outcome.fault, []).append(outcome)
    ordered = sorted(by_fault, key=lambda name: int(name[1:]))
    return "\n".join([*HEAD, *(line(name, by_fault[name]) for name in ordered)])


def line(name: str, outcomes: Sequence[Outcome]) -> str:
    about = " ".join((ACTS[name].__doc__ or "").split())
    if any(outcome.impossible for outcome in outcomes):
        return f"| {name} | {about} | not run: {outcomes[0].impossible} | | | | |"
    worst: dict[str, float] = {}
    for outcome in outcomes:
        for figure in outcome.limits:
            worst[figure] = max(worst.get(figure, NEVER), outcome.figures.get(figure, float("inf")))
    limits = ALWAYS | PLAN[name].limits
    figures = "; ".join(
        shown(figure, value, limits[figure]) for figure, value in worst.items() if figure != "broken laws"
    )
    asked, unknown = sum(outcome.asked for outcome in outcomes), sum(outcome.unknown for outcome in outcomes)
    laws = sorted({law for outcome in outcomes for law in outcome.broken}) or ["none"]
    return f"| {name} | {about} | {len(outcomes)} | {asked} | {unknown} | {figures} | {', '.join(laws)} |"


def shown(figure: str, value: float, limit: float) -> str:
    text = f"{figure} {value:.3g} ({limit:g})"
    return f"**{text}**" if value > limit else text


def told(outcome: Outcome) -> str:
    """One run, for anyone who watches it."""
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
