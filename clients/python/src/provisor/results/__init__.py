"""Results with methods of their own.

A class here extends the dataclass of the same name in provisor.schemas, which has the members, and takes its place in
all replies; the generated calls name it as what they return. A module a topic, as there, read with the topic's classes.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from .operations import Operation as Operation

if TYPE_CHECKING:
    from .advice import Advice as Advice
    from .advice import Autoscaling as Autoscaling
    from .clusters import ClusterPerformance as ClusterPerformance
    from .deadlines import Contention as Contention
    from .deadlines import ControlSimulation as ControlSimulation
    from .deadlines import Feasibility as Feasibility
    from .deadlines import StagePlan as StagePlan
    from .geo import CopyPlan as CopyPlan
    from .geo import SimulationResult as SimulationResult
    from .models import Accuracy as Accuracy
    from .models import ApplicationModels as ApplicationModels
    from .models import Diagnosis as Diagnosis
    from .models import ModelFit as ModelFit
    from .models import NextExperiments as NextExperiments
    from .models import Speedup as Speedup
    from .models import Stragglers as Stragglers
    from .models import TeamAccuracy as TeamAccuracy
    from .scheduling import SlotPlan as SlotPlan
    from .simulations import SlotsSimulationResult as SlotsSimulationResult
    from .simulations import TasksSimulationResult as TasksSimulationResult

# Modules here; record.class_of reads the one that a class's topic names.
TOPICS = frozenset(("advice", "clusters", "deadlines", "geo", "models", "operations", "scheduling", "simulations"))


if not TYPE_CHECKING:

    def __getattr__(name):
        from ..record import class_of
        from ..schemas import TOPICS as ALL
        if ALL.get(name) in TOPICS and class_of(name).__module__.startswith(__name__ + "."):
            return class_of(name)
        raise AttributeError("provisor.results has no %s" % name)
