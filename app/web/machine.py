"""A state machine and its drawing: a table of steps, and the words that stand at them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

Step = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What something can be, and every step between.

    `steps` is the table, from state to states, that the program goes by or is held to (tests/steps.py). `said` puts
    words at some steps, `begins` names the states in which it begins, `passed` those that it only passes through within
    one transaction. `column` is where the state is kept (None: it follows from other columns), `source` where the table
    stands, `pages` where more is told.
    """

    name: str
    about: str
    steps: Mapping[str, Collection[str]]
    begins: tuple[str, ...]
    column: tuple[str, str] | None
    source: tuple[str, str]
    pages: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    said: Mapping[Step, str] = field(default_factory=dict)

    @property
    def states(self) -> list[str]:
        """Every state, in the order in which the table comes to it."""
        listed = [*self.begins, *self.steps, *(other for others in self.steps.values() for other in others)]
        return [state for state in dict.fromkeys(listed) if state]

    @property
    def edges(self) -> list[Step]:
        """Every step to another state, in the order of the states."""
        order = self.states
        return [(one, other) for one in order for other in order if one != other and other in self.steps.get(one, ())]

    @property
    def ends(self) -> list[str]:
        """The states that nothing leads out of."""
        return [state for state in self.states if not self.steps.get(state)]

    @property
    def written(self) -> set[Step]:
        """The steps as the database sees them: what is only passed through is never written."""
        found = {(one, other) for one, other in self.edges if not {one, other} & set(self.passed)}
        for middle in self.passed:
            before = [one for one, other in self.edges if other == middle]
            found |= {(one, other) for one in before for other in self.steps[middle]}
        return found


def drawing(machine: Machine) -> str:
    """The machine as a mermaid diagram. Raises ValueError for words at a step that the table does not have."""
    strangers = set(machine.said) - set(machine.edges)
    if strangers:
        raise ValueError(f"{machine.name}: {sorted(strangers)}")
    return "\n".join(["```mermaid", "stateDiagram-v2", *_lines(machine), "```"])


def _lines(machine: Machine) -> Iterator[str]:
    for state in machine.begins:
        yield f"  [*] --> {state}"
    for one, other in machine.edges:
        words = machine.said.get((one, other))
        yield f"  {one} --> {other}" + (f": {words}" if words else "")
