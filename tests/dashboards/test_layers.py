"""What boards show of a run besides its series: its phases, and what disturbed the generator, as regions."""

from __future__ import annotations

from controller.plans.plan import Phase
from controller.running.annotation import DISTURBANCE, MARKERS
from dashboards import palette
from dashboards.grafana.render import PHASE_TAG, layers
from exporters.names import loadgen


def test_phases_and_outcomes_have_a_colour_each_and_the_regions_are_found_by_their_tags() -> None:
    assert tuple(palette.PHASES) == tuple(phase.value for phase in Phase)
    assert tuple(palette.OUTCOMES) == loadgen.OUTCOMES
    assert PHASE_TAG in MARKERS
    notes, *regions, troubles, metrics = layers()
    assert (notes["builtIn"], metrics["enable"], troubles["enable"]) == (1, False, True)
    assert troubles["target"]["tags"] == [MARKERS[0], DISTURBANCE]
    for region in regions:
        assert region["target"]["tags"] == [PHASE_TAG, f"phase:{region['name']}"]
        assert region["target"]["limit"] >= 500
        assert region["enable"]
