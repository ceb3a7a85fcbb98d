"""A state machine and its drawing: a table of steps, and the words that stand at them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

Transition = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class StateMachine:
    """What something can be, and every step between.

    `steps` is the table, from state to states, that the program goes by or is held to (tests/steps.py). `said` puts
    words at some steps, `begins` names the states in which it begins, `passed` those that it only passes through within
    one transaction. `column` is where the state is kept (None: it follows from other columns), `source` where the table
    stands, `pages` where more is told.
    """

    name: str
    description: str
    transitions: Mapping[str, Collection[str]]
    initial_states: tuple[str, ...]
    column: tuple[str, str] | None
    source: tuple[str, str]
    doc_pages: tuple[str, ...] = ()
    transient_states: tuple[str, ...] = ()
    transition_labels: Mapping[Transition, str] = field(default_factory=dict)

    @property
    def states(self) -> list[str]:
        """Every state, in the order in which the table comes to it."""
        states = [
            *self.initial_states,
            *self.transitions,
            *(target for targets in self.transitions.values() for target in targets),
        ]
        return [state for state in dict.fromkeys(states) if state]

    @property
    def transition_pairs(self) -> list[Transition]:
        """Every step to another state, in the order of the states."""
        states = self.states
        return [
            (source, target)
            for source in states
            for target in states
            if source != target and target in self.transitions.get(source, ())
        ]

    @property
    def final_states(self) -> list[str]:
        """The states that nothing leads out of."""
        return [state for state in self.states if not self.transitions.get(state)]

    @property
    def stored_transitions(self) -> set[Transition]:
        """The steps as the database sees them: what is only passed through is never written."""
        pairs = {
            (source, target)
            for source, target in self.transition_pairs
            if not {source, target} & set(self.transient_states)
        }
        for transient in self.transient_states:
            sources = [source for source, target in self.transition_pairs if target == transient]
            pairs |= {(source, target) for source in sources for target in self.transitions[transient]}
        return pairs


def render_mermaid(machine: StateMachine) -> str:
    """The machine as a mermaid diagram. Raises ValueError for words at a step that the table does not have."""
    unknown_transitions = set(machine.transition_labels) - set(machine.transition_pairs)
    if unknown_transitions:
        raise ValueError(f"{machine.name}: {sorted(unknown_transitions)}")
    return "\n".join(["```mermaid", "stateDiagram-v2", *_mermaid_lines(machine), "```"])


def _mermaid_lines(machine: StateMachine) -> Iterator[str]:
    for state in machine.initial_states:
        yield f"  [*] --> {state}"
    for source, target in machine.transition_pairs:
        label = machine.transition_labels.get((source, target))
        yield f"  {source} --> {target}" + (f": {label}" if label else "")
