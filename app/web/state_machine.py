"""The description of a state machine, and its diagram."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

Transition = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class StateMachine:
    """The states of an object, and all transitions between them.

    `transitions` maps each state to the next ones; the code uses it or tests enforce it (tests/steps.py).
    `transition_labels` has the labels of some transitions. `transient_states` occur only within a transaction. `column`
    is the table and column of the state (None: other columns determine it). `source` is the name and file of the
    transitions, and `doc_pages` are the pages with details.
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
        """All states, in the order of their first occurrence."""
        states = [
            *self.initial_states,
            *self.transitions,
            *(target for targets in self.transitions.values() for target in targets),
        ]
        return [state for state in dict.fromkeys(states) if state]

    @property
    def transition_pairs(self) -> list[Transition]:
        """All transitions to another state, in the order of the states."""
        states = self.states
        return [
            (source, target)
            for source in states
            for target in states
            if source != target and target in self.transitions.get(source, ())
        ]

    @property
    def final_states(self) -> list[str]:
        """The states without a transition to another one."""
        return [state for state in self.states if not self.transitions.get(state)]

    @property
    def stored_transitions(self) -> set[Transition]:
        """The transitions that the database sees: transient states are never stored."""
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
    """Return the machine as a mermaid diagram. Raises ValueError for the label of an unknown transition."""
    unknown_transitions = set(machine.transition_labels) - set(machine.transition_pairs)
    if unknown_transitions:
        raise ValueError(f"{machine.name}: {sorted(unknown_transitions)}")
    return "\n".join(["```mermaid", "stateDiagram-v2", *_list_mermaid_lines(machine), "```"])


def _list_mermaid_lines(machine: StateMachine) -> Iterator[str]:
    for state in machine.initial_states:
        yield f"  [*] --> {state}"
    for source, target in machine.transition_pairs:
        label = machine.transition_labels.get((source, target))
        yield f"  {source} --> {target}" + (f": {label}" if label else "")
