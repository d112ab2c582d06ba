"""Pictures of results, drawn by matplotlib, which is needed for nothing else."""
from .figure import Plot as Plot
