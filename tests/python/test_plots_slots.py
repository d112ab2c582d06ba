"""Pictures and frames of plans of slots."""
import pytest

import provisor
from artists import columns, drawn, points, texts
from provisor import results

JOBS = [{"name": "<script>$x$", "maps": 40, "map_task_s": 10.5, "reduces": 10, "reduce_task_s": 21.25}, {"name": "clean", "maps": 30, "map_task_s": 8.25}]


@pytest.fixture(scope="module")
def plan(service):
    with provisor.Client(service.base_url, service.alpha_token, progress=False) as client:
        return client.slot_plan(slots=12, concurrency=2, nodes=12, sweep=[1, 2], profile_error_percent=30, jobs=JOBS)


@pytest.mark.makes("planSlots")
def test_the_curve_has_the_splits_of_the_reply(plan):
    plot = plan.plot()
    near = [(s.map_slots, s.makespan_s) for s in plan.splits if s.makespan_s <= 5 * plan.makespan_s]
    assert sorted(points(plot.axes)) == sorted(near + [(plan.map_slots, plan.makespan_s)])
    assert any("%d map, %d reduce" % (plan.map_slots, plan.reduce_slots) in text for text in texts(plot.axes))
    assert "of 11 divisions" in plot.alt and "makespan (s)" in drawn(plot)
    plot = plan.sweep_plot()
    assert points(plot.axes) == [(p.fairness, p.makespan_s) for p in plan.sweep] and texts(plot.axes) == ["1", "2"]
    drawn(plot)


def test_frames_and_tables(plan):
    assert list(plan.to_frame()["map_slots"]) == list(range(1, 12)) and list(plan.jobs_frame()["name"]) == [j["name"] for j in JOBS]
    assert "<script" not in plan._repr_html_() and "If the profiles are wrong" in columns(plan._repr_html_())[0]
    with pytest.raises(ValueError, match="ask with sweep"):
        results.SlotPlan.from_json({**plan.to_dict(), "sweep": []}).sweep_plot()
    assert results.SlotPlan is provisor.record.class_of("SlotPlan")
